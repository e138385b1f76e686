"""The published measurements: read as they stand, found by the network they were made on."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from hexsim import models
from hexsim.datasheets import chips, measurements, stacks
from hexsim.datasheets.stacks import PROFILES


def test_every_row_is_read_and_names_things_that_exist() -> None:
    with (
        Path(measurements.__file__).with_name("measured_latency.csv").open(encoding="utf-8") as file
    ):
        assert len(measurements.rows()) == len(list(csv.DictReader(file))) > 0
    for row in measurements.rows():
        assert row.chip in chips.names()
        assert row.stack in (*stacks.names(), "tflite-cpu")
        assert row.perf_profile in (None, *PROFILES)
        assert row.latency_ms > 0
        assert row.resolution_ms > 0
        assert models.is_name(row.model)


def found_ms(model: str, chip: str, stack: str, runtime: str, forward: bool) -> list[float]:
    return [
        row.latency_ms for row in measurements.find(model, chip, stack, runtime, forward=forward)
    ]


def test_rows_meet_the_network_with_the_measured_structure() -> None:
    assert found_ms("googlenet", "sd835", "snpe-1.23", "dsp", forward=True) == [22.0]
    assert found_ms("googlenet", "sd865", "aihub-tflite", "dsp", forward=False) == []
    assert found_ms("googlenet_torchvision", "sd865", "aihub-tflite", "dsp", False) == [5.7]
    assert found_ms("conv1x1_1to1@256x256", "sd865", "qnn-2.45", "hta", False) == [2.558]
    assert found_ms("mobilenet_v2_2_0", "sd855", "tflite-hexagon", "dsp", False) == [6.9]


def shapes(model: str) -> list[tuple[int, ...]]:
    """The shapes of a network's inputs, channels last."""
    values = models.build(model).proto.graph.input
    dimensions = [tuple(d.dim_value for d in value.type.tensor_type.shape.dim) for value in values]
    return [(n, height, width, channels) for n, channels, height, width in dimensions]


def test_the_network_takes_the_measured_input() -> None:
    for model in {row.model for row in measurements.rows()}:
        inputs = {row.input_nhwc for row in measurements.rows() if row.model == model}
        assert list(inputs) == shapes(model), model


def test_every_row_of_the_shared_file_is_there(real_data: Path) -> None:
    """With its figures, if not its words; it knows no buffers, profiles and built-in networks."""
    shared = real_data.parent / "latency_calibration.csv"
    if not shared.is_file():
        pytest.skip(f"no {shared.name} beside the real data")
    own = Path(measurements.__file__).with_name("measured_latency.csv")
    with shared.open(encoding="utf-8") as file, own.open(encoding="utf-8") as ours:
        theirs = list(csv.DictReader(file))
        columns = theirs[0].keys() - {"network_variant", "note"}
        kept = [{name: row[name] for name in columns} for row in csv.DictReader(ours)]
    assert [{name: row[name] for name in columns} for row in theirs] == kept


def test_a_published_range_is_two_values() -> None:
    assert found_ms("alexnet", "sd835", "snpe-1.23", "cpu", forward=False) == [196.0, 278.0]


def test_unknown_idle_is_not_zero() -> None:
    idles = {row.chip: row.idle_ms for row in measurements.rows() if row.runtime == "dsp"}
    assert idles["sd835"] is None
    assert idles["sd855"] == 0.0


def test_a_known_buffer_type_is_one_that_the_stack_takes() -> None:
    known = [row for row in measurements.rows() if row.buffer is not None]
    assert [(row.chip, row.model, row.buffer) for row in known] == [
        ("sd855", "mobilenet_v1", "tf8")
    ]
    assert all(row.buffer in stacks.load(row.stack).buffer_types for row in known)


@pytest.mark.parametrize("heavy", ["pydantic", "numpy"])
def test_reading_them_needs_nothing_heavy(heavy: str) -> None:
    code = (
        "import sys; from hexsim.datasheets import measurements; measurements.rows();"
        f"sys.exit('{heavy}' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
