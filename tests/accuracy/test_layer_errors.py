"""The table of layers, against the same figures of all inputs at once."""

from collections.abc import Iterable

import numpy as np
import pytest

from hexsim.accuracy.distance import Distance
from hexsim.accuracy.layer_errors import (
    ErrorStream,
    FloatStatistics,
    LayerError,
    TensorRun,
    most_added,
)
from hexsim.accuracy.paired_run import PairedRun, Values
from hexsim.graph.ir import Network, Tensor
from hexsim.inputs.seeded import seeded_inputs
from hexsim.layers import Neuron, Reshape
from hexsim.onnx_io.read.reader import read
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.unet import unet


def errors_of(paired: PairedRun, pairs: Iterable[tuple[Values, Values]]) -> tuple[LayerError, ...]:
    """Of all inputs, given as the values of float and runtime, one run each."""
    stream = ErrorStream(paired)
    for floats, others in pairs:
        runs = {name: TensorRun() for name in paired.measured}
        for name, run in runs.items():
            run.add(floats[name], others[name], paired.encodings.get(name))
        stream.take(runs)
    return stream.errors()


def test_every_figure_is_that_of_all_inputs_together() -> None:
    model = culprits.quantized()
    paired = PairedRun(deployed(model))
    runs = [paired.run(feed) for feed in culprits.inputs()]
    errors = errors_of(paired, runs)
    assert [row.layer for row in errors] == ["in", "c0", "c1", "c2", "c3", "fc"]
    before = 0.0
    for row in errors:
        floats, others = (np.stack([run[side][row.tensor] for run in runs]) for side in (0, 1))
        assert row.sqnr_db == pytest.approx(Distance.between(floats, others).sqnr_db)
        assert row.cosine == pytest.approx(Distance.between(floats, others).cosine)
        assert row.max_error == Distance.between(floats, others).max_error
        assert (row.low, row.high) == (floats.min(), floats.max())
        assert row.encoding == model.activations[row.tensor]
        ratio = float(np.sum((floats - others) ** 2.0) / np.sum(floats.astype(float) ** 2))
        assert row.added_noise == pytest.approx(ratio - before, rel=1e-4, abs=1e-7)
        before = ratio


def test_copies_add_no_noise() -> None:
    """A nearest resize repeats codes: the same ratio, but for the rounding of longer sums."""
    network = read(unet())
    inputs = seeded_inputs({"image": network.shape("image")}, 3)
    paired = PairedRun(deployed(quantize(network, inputs)))
    errors = errors_of(paired, map(paired.run, inputs))
    (copied,) = [row for row in errors if row.tensor == "blocks"]
    assert copied.added_noise == 0


def test_clipping_counts_what_lies_outside_by_more_than_rounding() -> None:
    encoding = Encoding.from_range(0.0, 2.55)
    values = np.array([[-1.0, 0.0, 2.55, 2.554, 2.556, 9.0]], np.float32)
    seen = FloatStatistics.of(values, encoding)
    assert (seen.outside, seen.count) == (3, 6)


def test_a_channel_is_constant_if_no_input_moves_it() -> None:
    seen = FloatStatistics()
    seen.take(FloatStatistics.of(np.array([[[1.0, 5.0], [2.0, 5.0]]], np.float32), None))
    assert seen.constant == (1,)
    seen.take(FloatStatistics.of(np.array([[[1.0, 5.0], [2.0, 6.0]]], np.float32), None))
    assert seen.constant == ()
    single = FloatStatistics.of(np.ones((1, 3), np.float32), None)
    assert single.constant == (), "one value each says nothing"


@pytest.mark.parametrize("fault", ["outlier", "clipped", "unused"])
def test_the_culprit_adds_most_though_the_layers_behind_it_are_no_better(fault: str) -> None:
    paired = PairedRun(deployed(culprits.quantized(fault)))
    errors = errors_of(paired, map(paired.run, culprits.inputs()))
    assert most_added(errors)[0].layer == culprits.CULPRIT


def test_a_tensor_without_elements_has_no_row() -> None:
    relu = Neuron(name="r", inputs=("x",), outputs=("y",), function="tanh")
    same = Reshape(name="s", inputs=("e",), outputs=("z",), shape=(0, 2))
    shapes = {"x": (2,), "y": (2,), "e": (2, 0), "z": (0, 2)}
    tensors = {name: Tensor(name, shape) for name, shape in shapes.items()}
    network = Network("n", (relu, same), tensors, {}, ("x", "e"), ("y", "z"))
    values = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    errors = errors_of(PairedRun(deployed(network, "cpu")), [(values, values)])
    assert [row.tensor for row in errors] == ["x", "y"]
