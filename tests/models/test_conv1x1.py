"""The probes: names, shapes and refusals."""

import pytest

from hexsim import models
from hexsim.datasheets import measurements
from hexsim.errors import HexsimError
from hexsim.models import conv1x1


def dims(value) -> tuple[int, ...]:
    return tuple(d.dim_value for d in value.type.tensor_type.shape.dim)


@pytest.mark.parametrize(
    ("name", "input_shape", "output_shape"),
    [
        ("conv1x1_1to1", (1, 1, 1, 1), (1, 1, 1, 1)),
        ("conv1x1_1920to5120@113x1", (1, 1920, 113, 1), (1, 5120, 113, 1)),
        ("conv1x1_3to7@2x5", (1, 3, 2, 5), (1, 7, 2, 5)),
    ],
)
def test_name_gives_the_shapes(
    name: str, input_shape: tuple[int, ...], output_shape: tuple[int, ...]
) -> None:
    graph = models.build(name).proto.graph
    assert [node.op_type for node in graph.node] == ["Conv"]
    assert (dims(graph.input[0]), dims(graph.output[0])) == (input_shape, output_shape)


@pytest.mark.parametrize(
    "name",
    ["conv1x1", "conv1x1_", "conv1x1_0to1", "conv1x1_1to", "conv1x1_1to1@3", "conv1x1_1to1@0x1"],
)
def test_badly_written_name_is_refused_with_the_form(name: str) -> None:
    with pytest.raises(HexsimError, match="conv1x1_CINtoCOUT"):
        models.build(name)


def test_probe_too_big_for_a_file_is_refused() -> None:
    with pytest.raises(HexsimError, match="more than the 536854528"):
        models.build("conv1x1_65536to65536")


def test_measured_probes_are_those_of_the_measurement_file() -> None:
    measured = {row.model for row in measurements.rows() if row.model.startswith("conv1x1")}
    assert set(conv1x1.MEASURED) == measured
