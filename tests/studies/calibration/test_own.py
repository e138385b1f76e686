"""Phones that are made up: rows of one network tell of the others, and nothing else moves."""

from __future__ import annotations

import math
import zlib
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from hexsim.datasheets.measurements.calibration import calibration
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.results.calibration import CalibratedRow, Calibration
from hexsim.simulation.simulator import Workload
from hexsim.studies.calibration.own import Adjust, calibrate
from hexsim.studies.calibration.prediction import deployed
from tests.thorough import THOROUGH

NETWORKS = ("mobilenet_v1", "squeezenet1_1", "googlenet", "alexnet")
CHIP = "sd845"


@cache
def workload(network: str, runtime: str = "dsp") -> Workload:
    return deployed(load(network), Platform.load(CHIP), runtime).workload()


def times_ms(platform: Platform, networks: tuple[str, ...] = NETWORKS) -> dict[str, float]:
    return {name: platform.simulate(workload(name)).total_us / 1e3 for name in networks}


def phone(seed: int) -> Platform:
    """The platform with every constant of its stack drawn from what is known of it."""
    platform = Platform.load(CHIP)
    stack = platform.stack
    for path, constant in list(stack.quantities()):
        if constant.low and constant.high and constant.unit != "B":
            # Its own stream of numbers, so that a new constant leaves the others as they are.
            drawn = np.random.default_rng((seed, zlib.crc32(path.encode())))
            error = math.log(constant.high / constant.low) / 4
            value = constant.value * math.exp(drawn.normal(0.0, error))
            stack = stack.with_value(path, min(max(value, constant.low), constant.high))
    return Platform(platform.chip, stack)


def written(folder: Path, times: dict[str, float]) -> Path:
    source = folder / "phone.csv"
    rows = "".join(f"dsp,{name},{ms:.4f}\n" for name, ms in times.items())
    source.write_text(f"runtime,model,latency_ms\n{rows}", encoding="utf-8")
    return source


def error(simulated: dict[str, float], measured: dict[str, float], out: str) -> float:
    """Median error on all networks but one."""
    others = [name for name in measured if name != out]
    return float(np.median([abs(simulated[name] / measured[name] - 1) for name in others]))


def left_out_error(rows: tuple[CalibratedRow, ...]) -> float:
    return float(np.median([abs((r.left_out_ms or 0) / r.measured_ms - 1) for r in rows]))


@pytest.mark.slow
@pytest.mark.parametrize("only", ["squeezenet1_1", "googlenet"])
def test_one_row_helps_on_the_other_networks(tmp_path: Path, only: str) -> None:
    nominal = times_ms(Platform.load(CHIP))
    before, after = [], []
    for seed in (0, 2, 3, 4) if THOROUGH else (0, 3):
        measured = times_ms(phone(seed))
        calibrated, adjusted = calibrate(written(tmp_path, {only: measured[only]}), CHIP)
        assert calibrated.measured[0].left_out_ms is None
        assert calibrated.one_run_alone is None
        before.append(error(nominal, measured, only))
        after.append(error(times_ms(adjusted), measured, only))
    assert sum(after) < 0.75 * sum(before)
    assert max(after) < max(before)


@pytest.mark.slow
def test_more_rows_say_how_the_left_out_ones_fare(tmp_path: Path) -> None:
    measured = times_ms(phone(4))  # 13 % from the platform; others are nearer than rows can tell
    calibrated, adjusted = calibrate(written(tmp_path, measured), CHIP)
    assert [row.model for row in calibrated.measured] == list(NETWORKS)
    nominal, after = times_ms(Platform.load(CHIP)), times_ms(adjusted)
    for row in calibrated.measured:
        assert row.before_ms == pytest.approx(nominal[row.model])
        assert row.after_ms == pytest.approx(after[row.model])
    assert left_out_error(calibrated.measured) < 0.3 * error(nominal, measured, "")
    alone = calibrated.one_run_alone
    assert alone is not None
    assert alone.median_error_of_others_after < 0.7 * alone.median_error_of_others_before


@pytest.mark.slow
def test_only_what_is_adjusted_moves_and_it_says_by_whom(tmp_path: Path) -> None:
    nominal = times_ms(Platform.load("sd865"), ("squeezenet1_1",))
    source = written(tmp_path, {name: 1.3 * ms for name, ms in nominal.items()})
    before = Platform.load("sd865")
    for adjust in get_args(Adjust):
        calibrated, after = calibrate(source, "sd865", adjust=adjust)
        reported = {
            (constant.stated_by, constant.constant)
            for constant in calibrated.constants
            if constant.reported
        }
        moved = set()
        for old, new in ((before.chip, after.chip), (before.stack, after.stack)):
            stated = dict(new.quantities())
            for path, constant in old.quantities():
                if constant.value != stated[path].value:
                    moved.add((old.name, path))
                    assert stated[path].confidence == "calibrated"
                    assert stated[path].source.endswith("calibrated with phone.csv")
        assert moved
        assert moved <= reported
        assert {datasheet for datasheet, _ in moved} <= {
            "stack": {"qnn-2.45"},
            "chip": {"sd865"},
            "both": {"qnn-2.45", "sd865"},
        }[adjust]


def by_path(calibrated: Calibration) -> dict[str, float]:
    """The errors after, as shares of those before."""
    return {
        constant.constant: math.log(constant.one_sigma_factor_after)
        / math.log(constant.one_sigma_factor_before)
        for constant in calibrated.constants
    }


@pytest.mark.slow
def test_errors_shrink_with_rows_that_agree_and_bounds_hold(tmp_path: Path) -> None:
    measured = times_ms(phone(2))
    few, _ = calibrate(written(tmp_path, {"googlenet": measured["googlenet"]}), CHIP)
    many, after = calibrate(written(tmp_path, measured), CHIP)
    for path, share in by_path(many).items():
        assert share <= 1.001
        assert share <= by_path(few).get(path, 1.0) + 0.02
    stated = dict(after.stack.quantities())
    for path, constant in Platform.load(CHIP).stack.quantities():
        if constant.low is not None and constant.high is not None:
            low, high = stated[path].low, stated[path].high
            assert low is not None
            assert high is not None
            assert constant.low <= low <= stated[path].value <= high <= constant.high


@pytest.mark.slow
def test_calibrated_constants_that_no_row_reads_keep_their_published_interval(
    tmp_path: Path,
) -> None:
    _, after = calibrate(written(tmp_path, {"googlenet": 14.0}), CHIP)
    index = calibration().find("snpe-1.30", "gpu.efficiency")
    assert index is not None
    fitted, stated = calibration().constants[index], dict(after.stack.quantities())
    assert stated["gpu.efficiency"].value == fitted.value
    assert (stated["gpu.efficiency"].low, stated["gpu.efficiency"].high) == fitted.interval


def test_the_same_rows_give_the_same_answer(tmp_path: Path) -> None:
    source = written(tmp_path, {"ds_cnn_s": 0.85})
    (first, _), (second, _) = (calibrate(source, CHIP) for _ in range(2))
    assert first.constants == second.constants


def test_rows_that_tell_nothing_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "cpu.csv"
    nominal = Platform.load(CHIP).simulate(workload("alexnet", "cpu")).total_us / 1e3
    source.write_text(f"runtime,model,latency_ms,resolution_ms\ncpu,alexnet,{nominal},{nominal}\n")
    with pytest.raises(
        HexsimError, match=r"cpu\.csv: the rows say nothing of the constants of sd8"
    ):
        calibrate(source, CHIP, adjust="chip")
