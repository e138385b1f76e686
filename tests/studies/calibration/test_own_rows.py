"""Rows of a user's own: what is read, and the sentence about what cannot be.

Times of layers: what is read, what they weigh, and that a calibration follows them.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from hexsim import budget
from hexsim.datasheets import measurements
from hexsim.datasheets.measurements import MeasuredLayer, Measurement
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.studies.calibration.own import calibrate
from hexsim.studies.calibration.own_rows import (
    COLUMNS,
    LAYER_COLUMNS,
    Names,
    read_layers,
    read_rows,
)
from hexsim.studies.calibration.prediction import MODEL_ERROR, deployed, group, weights

SHORT = "runtime,model,latency_ms"
OWN_ROWS_NAMES = Names(frozenset({"sd855", "a.toml"}), frozenset({"snpe-1.30"}))


def own_rows_read(folder: Path, *lines: str) -> list[Measurement]:
    source = folder / "rows.csv"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_rows(source, Platform.load("sd855", "snpe-1.30"), OWN_ROWS_NAMES, load)


def refused(folder: Path, *lines: str) -> str:
    with pytest.raises(HexsimError) as caught:
        own_rows_read(folder, *lines)
    text = str(caught.value)
    assert text.startswith(f"{folder / 'rows.csv'}")
    assert "\n" not in text
    return text.removeprefix(f"{folder / 'rows.csv'}")


def test_the_columns_are_those_of_the_published_rows() -> None:
    file = Path(measurements.__file__).with_name("measured_latency.csv")
    with file.open(encoding="utf-8") as text:
        assert set(next(csv.reader(text))) == set(COLUMNS)


def test_published_rows_of_the_platform_are_read_as_they_are(tmp_path: Path) -> None:
    file = Path(measurements.__file__).with_name("measured_latency.csv")
    lines = file.read_text(encoding="utf-8").splitlines()
    chosen = [line for line in lines if line.startswith("sd855,dsp,snpe-1.30")]
    (row,) = own_rows_read(tmp_path, lines[0], *chosen)
    assert row in measurements.rows()


def test_most_columns_may_be_left_out(tmp_path: Path) -> None:
    first, second = own_rows_read(tmp_path, SHORT, "dsp,squeezenet1_1,3.25", "", "hta,alexnet,12")
    assert (first.chip, first.stack) == ("sd855", "snpe-1.30")
    assert (first.latency_ms, first.resolution_ms, first.forward) == (3.25, 0.01, False)
    assert (first.idle_ms, first.perf_profile, first.buffer) == (None, None, None)
    assert first.input_nhwc == (1, 227, 227, 3)
    assert (second.runtime, second.resolution_ms) == ("hta", 1.0)


def test_a_model_is_a_file_beside_the_rows(tmp_path: Path) -> None:
    from hexsim import models

    (tmp_path / "nets").mkdir()
    file = tmp_path / "nets" / "own.onnx"
    file.write_bytes(models.build("conv1x1_8to8").proto.SerializeToString())
    (row,) = own_rows_read(tmp_path, SHORT, "dsp,nets/own.onnx,1.5")
    assert row.model == str(file)
    assert row.network == "own"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([""], "no column 'runtime'"),
        (["runtime,model"], "no column 'latency_ms'"),
        (["runtime,latency_ms"], "no column 'model'"),
        ([f"{SHORT},latency", "dsp,alexnet,1,2"], ", line 1: column 'latency' is not known; did"),
        ([f"{SHORT},model", "dsp,alexnet,1,alexnet"], "column 'model' is there twice"),
        ([SHORT], "no rows below the header"),
        ([SHORT, "dsp,alexnet"], ", line 2: 2 values, and the header has 3 columns"),
        ([SHORT, "dsp,alexnet,"], ", line 2: there is no value in column 'latency_ms'"),
        ([SHORT, ",alexnet,3"], ", line 2: there is no value in column 'runtime'"),
        ([SHORT, "dsp,alexnet,3", "dsp,alexnet,fast"], ", line 3: latency_ms 'fast' is not a"),
        ([SHORT, "dsp,alexnet,nan"], "latency_ms 'nan' is not a number"),
        ([SHORT, "dsp,alexnet,-3"], "latency_ms -3 is not more than zero"),
        ([f"{SHORT},resolution_ms", "dsp,alexnet,3,0"], "resolution_ms 0 is not more than zero"),
        ([f"{SHORT},resolution_ms", "dsp,alexnet,3,"], "no value in column 'resolution_ms'"),
        ([f"{SHORT},idle_ms_before_call", "dsp,alexnet,3,-1"], "-1 is less than zero"),
        ([f"{SHORT},batch", "dsp,alexnet,3,2"], "batch is 2, and the input of 'alexnet' is 1x227"),
        ([f"{SHORT},input_nhwc", "dsp,alexnet,3,1x2x2x3"], "input_nhwc is 1x2x2x3, and the input"),
        ([f"{SHORT},input_nhwc", "dsp,alexnet,3,big"], "'big' is not of the form 1x224x224x3"),
        ([f"{SHORT},chip", "dsp,alexnet,3,sd845"], "chip 'sd845' is not the one that is calib"),
        ([f"{SHORT},stack", "dsp,alexnet,3,qnn-2.45"], "stack 'qnn-2.45' is not the one that"),
        ([f"{SHORT},perf_profile", "dsp,alexnet,3,bursty"], "unknown performance profile 'bursty'"),
        ([f"{SHORT},buffer", "dsp,alexnet,3,tf9"], "unknown buffer type of snpe-1.30 'tf9'"),
        ([SHORT, "dps,alexnet,3"], "unknown runtime 'dps'; did you mean dsp?"),
        ([SHORT, "dsp,alexnett,3"], ", line 2: 'alexnett' is neither a file nor a built-in"),
        ([SHORT, "dsp,none.onnx,3"], "line 2: no such file"),
        ([SHORT, 'dsp,"alexnet,3'], "not CSV"),
    ],
)
def test_what_makes_no_sense_is_reported_with_its_line(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    assert message in refused(tmp_path, *lines)


def test_rows_have_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a file of some megabytes asks for a million simulations."""
    monkeypatch.setattr(budget, "MEASURED", budget.Limit(2, "measured rows"))
    sentence = refused(tmp_path, SHORT, *["dsp,alexnet,5.0"] * 3)
    assert sentence.startswith(", line 4, asks for 3, and the budget is 2 measured rows")


def test_a_chip_may_be_called_as_its_option_does(tmp_path: Path) -> None:
    rows = own_rows_read(
        tmp_path, f"{SHORT},chip,stack", "dsp,alexnet,3,a.toml,", "dsp,alexnet,3,sd855,"
    )
    assert {row.chip for row in rows} == {"sd855"}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    platform = Platform.load("sd855")
    with pytest.raises(HexsimError, match=r"cannot read measured rows .*none\.csv': No such file"):
        read_rows(tmp_path / "none.csv", platform, OWN_ROWS_NAMES, load)
    binary = tmp_path / "rows.csv"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(HexsimError, match="no text in UTF-8"):
        read_rows(binary, platform, OWN_ROWS_NAMES, load)


NETWORK = "squeezenet1_1"
CHIP, STACK = "sd865", "snpe-1.63"
LAYER_ROWS_NAMES = Names(frozenset({CHIP}), frozenset({STACK}))
HEADER = "network,layer,type,dsp_us,dsp_min_us,dsp_max_us,cpu_us"


def layer_rows_read(folder: Path, *lines: str) -> list[MeasuredLayer]:
    source = folder / "layers.csv"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_layers(source, Platform.load(CHIP, STACK), LAYER_ROWS_NAMES, load)


def names() -> list[str]:
    return [layer.name for layer in load(NETWORK).network.layers]


def test_the_columns_are_those_of_the_published_layers() -> None:
    file = Path(measurements.__file__).with_name("layer_latency.csv")
    header = file.read_text(encoding="utf-8").splitlines()[0]
    assert set(header.split(",")) == set(LAYER_COLUMNS)


def test_a_layer_is_a_row_for_each_runtime_that_took_time(tmp_path: Path) -> None:
    first, second, *_ = names()
    rows = layer_rows_read(
        tmp_path,
        HEADER,
        f"{NETWORK},input,data,12,,,0",
        f"{NETWORK},{first},convolutional,100,90,130,2000",
        f"{NETWORK},{second},pooling,20,,,0",
    )
    assert [(row.layer, row.runtime, row.latency_ms, row.resolution_ms) for row in rows] == [
        (first, "dsp", 0.1, 0.02),
        (first, "cpu", 2.0, 0.0005),
        (second, "dsp", 0.02, 0.0005),
    ]
    assert rows[0].layer_class == "convolutional"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"{NETWORK},conv9x,convolutional,1,,,1", "layer 'conv9x'"),
        (f"{NETWORK},LAYER,convolutional,-1,,,1", "dsp_us '-1' is not a time"),
        (f"{NETWORK},LAYER,convolutional,x,,,1", "dsp_us 'x' is not a time"),
        (",LAYER,convolutional,1,,,1", "no value in column 'network'"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(HexsimError, match="line 2") as caught:
        layer_rows_read(tmp_path, HEADER, line.replace("LAYER", names()[0]))
    assert says in str(caught.value)


def test_all_layers_of_a_run_weigh_as_one_row(tmp_path: Path) -> None:
    lines = [f"{NETWORK},{name},,1000,,," for name in names()[:16]]
    rows = layer_rows_read(tmp_path, HEADER, *lines)
    assert np.sum(weights(rows) ** 2) == pytest.approx(MODEL_ERROR**-2, rel=1e-3)
    assert len({group(row) for row in rows}) == len({row.layer_class for row in rows})


def test_layers_alone_find_the_clock_at_which_they_ran(tmp_path: Path) -> None:
    platform = Platform.load(CHIP, STACK)
    path = "profiles.high_performance.dsp_clock_share"
    faster = Platform(platform.chip, platform.stack.with_value(path, 0.85))  # within its bounds
    result = deployed(load(NETWORK), faster, "dsp").simulate()
    layers = tmp_path / "layers.csv"
    times = [f"{NETWORK},{layer.name},{layer.us:.3f}" for layer in result.layers]
    layers.write_text("\n".join(["network,layer,dsp_us", *times]) + "\n", encoding="utf-8")
    calibrated, _ = calibrate(None, CHIP, STACK, layers=layers)
    (share,) = (constant for constant in calibrated.constants if constant.constant == path)
    assert share.before < share.after < 0.9
    assert abs(share.after / 0.85 - 1) < 0.1
    after, before = (share.one_sigma_factor_after, share.one_sigma_factor_before)
    assert math.log(after) < 0.9 * math.log(before)


def test_nothing_to_calibrate_with_is_refused() -> None:
    with pytest.raises(HexsimError, match="nothing to calibrate with"):
        calibrate(None, CHIP)
