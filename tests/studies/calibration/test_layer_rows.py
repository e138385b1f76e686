"""Times of layers: what is read, what they weigh, and that a calibration follows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hexsim.datasheets import measurements
from hexsim.datasheets.measurements import MeasuredLayer
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.studies.calibration.layer_rows import LAYER_COLUMNS, read_layers
from hexsim.studies.calibration.own import calibrate
from hexsim.studies.calibration.own_rows import Names
from hexsim.studies.calibration.prediction import MODEL_ERROR, deployed, group, weights

NETWORK = "squeezenet1_1"
CHIP, STACK = "sd865", "snpe-1.63"
NAMES = Names(frozenset({CHIP}), frozenset({STACK}))
HEADER = "network,layer,type,dsp_us,dsp_min_us,dsp_max_us,cpu_us"


def read(folder: Path, *lines: str) -> list[MeasuredLayer]:
    source = folder / "layers.csv"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_layers(source, Platform.load(CHIP, STACK), NAMES, load)


def names() -> list[str]:
    return [layer.name for layer in load(NETWORK).network.layers]


def test_the_columns_are_those_of_the_published_layers() -> None:
    file = Path(measurements.__file__).with_name("layer_latency.csv")
    header = file.read_text(encoding="utf-8").splitlines()[0]
    assert set(header.split(",")) == set(LAYER_COLUMNS)


def test_a_layer_is_a_row_for_each_runtime_that_took_time(tmp_path: Path) -> None:
    first, second, *_ = names()
    rows = read(
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
        read(tmp_path, HEADER, line.replace("LAYER", names()[0]))
    assert says in str(caught.value)


def test_all_layers_of_a_run_weigh_as_one_row(tmp_path: Path) -> None:
    lines = [f"{NETWORK},{name},,1000,,," for name in names()[:16]]
    rows = read(tmp_path, HEADER, *lines)
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
    calibrated = calibrate(None, CHIP, STACK, layers=layers)
    (share,) = (constant for constant in calibrated.constants if constant.path == path)
    assert share.before < share.after < 0.9
    assert abs(share.after / 0.85 - 1) < 0.1
    assert share.error_after < 0.9 * share.error_before


def test_nothing_to_calibrate_with_is_refused() -> None:
    with pytest.raises(HexsimError, match="nothing to calibrate with"):
        calibrate(None, CHIP)
