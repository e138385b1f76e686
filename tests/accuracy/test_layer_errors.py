"""The table of layers, against the same figures of all inputs at once.

Both sides of a paired run say what the engines themselves say.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import onnx
import pytest

from hexsim.accuracy.layer_errors import (
    ErrorStream,
    FloatStatistics,
    PairedRun,
    TensorRun,
    Values,
)
from hexsim.accuracy.output_errors import Distance
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.inputs.seeded import seeded_inputs
from hexsim.layers import Neuron, Reshape
from hexsim.lowering import lower
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.quantizer import quantize
from hexsim.results.validation import TensorError, most_added
from tests.accuracy import culprits
from tests.deployed import deployed, planned
from tests.int8.single_layer import SIGNED, codes_of
from tests.unet import unet


def errors_of(paired: PairedRun, pairs: Iterable[tuple[Values, Values]]) -> tuple[TensorError, ...]:
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


def test_a_layer_behind_noise_without_signal_adds_none() -> None:
    paired = PairedRun(deployed(culprits.quantized()))
    floats, others = paired.run(culprits.inputs()[0])
    silent = {**floats, "c1.out": np.zeros_like(floats["c1.out"])}
    errors = {row.tensor: row for row in errors_of(paired, [(silent, others)])}
    assert (errors["c1.out"].added_noise, errors["c1.out"].noise) == (None, np.inf)
    assert errors["c2.out"].added_noise == 0.0


def test_a_tensor_without_elements_has_no_row() -> None:
    relu = Neuron(name="r", inputs=("x",), outputs=("y",), function="tanh")
    same = Reshape(name="s", inputs=("e",), outputs=("z",), shape=(0, 2))
    shapes = {"x": (2,), "y": (2,), "e": (2, 0), "z": (0, 2)}
    tensors = {name: Tensor(name, shape) for name, shape in shapes.items()}
    network = Network("n", (relu, same), tensors, {}, ("x", "e"), ("y", "z"))
    values = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    errors = errors_of(PairedRun(deployed(network, "cpu")), [(values, values)])
    assert [row.tensor for row in errors] == ["x", "y"]


def test_codes_of_every_tensor_made_real() -> None:
    model, (feed, *_) = culprits.quantized(), culprits.inputs()
    floats, others = PairedRun(deployed(model, "dsp", "sd855")).run(feed)
    (subnet,) = planned(model).subnets
    calls = tuple(lower(subnet, model, signed_kernels=SIGNED))
    codes = codes_of(subnet, calls, feed)
    assert set(codes) == set(others) == set(floats)
    for name, values in codes.items():
        encoding = model.activations[name]
        np.testing.assert_array_equal(encoding.dequantize(values), others[name])
    scores = FloatEngine(model.network).run(feed)["scores"]
    np.testing.assert_allclose(floats["scores"], scores, rtol=1e-5, atol=1e-5)


def test_a_tensor_without_an_encoding_is_named() -> None:
    model = culprits.quantized()
    without = replace(model, activations={**model.activations})
    del without.activations["in"]
    with pytest.raises(HexsimError, match="tensor 'in' has no encoding; quantise the model with"):
        PairedRun(deployed(without, "dsp", "sd855"))


def test_layers_on_the_tensor_engine_take_weights_as_they_are() -> None:
    model, (feed, *_) = culprits.quantized(), culprits.inputs()
    layers = [layer.name for layer in model.network.layers]
    rescaled, unsigned, mixed, every = (
        PairedRun(deployed(model, "aip", chip, sections=sections)).run(feed)[1]
        for chip, sections in (
            ("sd855", []),
            ("sd835", []),
            ("sd855", [["c0", "c1"]]),
            ("sd855", [layers]),
        )
    )
    for name in ("c0.out", "c1.out"):
        np.testing.assert_array_equal(mixed[name], unsigned[name])
        assert not np.array_equal(mixed[name], rescaled[name])
    assert not np.array_equal(mixed["c2.out"], unsigned["c2.out"]), "HVX rescales"
    for name, values in every.items():
        np.testing.assert_array_equal(values, unsigned[name])


def test_tensors_of_a_layer_that_falls_back_are_no_codes() -> None:
    network = culprits.network()
    elu = Neuron(name="elu", inputs=("scores",), outputs=("end",), function="elu")
    tensors = {**network.tensors, "end": Tensor("end", (1, 10))}
    network: Network = replace(
        network, layers=(*network.layers, elu), tensors=tensors, outputs=("end",)
    )
    paired = PairedRun(deployed(quantize(network, culprits.inputs())))
    assert (paired.runtimes["scores"], paired.runtimes["end"]) == ("dsp", "cpu")
    assert "scores" in paired.encodings
    assert "end" not in paired.encodings


def test_a_layer_of_a_graph_is_not_on_the_cpu_though_its_values_are(
    onnx_model: Callable[..., onnx.ModelProto],
) -> None:
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["a"]),
        onnx.helper.make_node("Where", ["kept", "a", "low"], ["y"]),
    ]
    constants = {"kept": np.array([True, False, True]), "low": np.float32(-1)}
    network = read(onnx_model(nodes, {"x": (1, 3)}, ["y"], constants))
    model = quantize(network, [{"x": np.array([[-1, 2, 3]], np.float32)}])
    paired = PairedRun(deployed(model, "htp", "sd8gen4"))
    assert paired.runtimes["y"] == "htp"
    assert "y" not in paired.encodings


def test_a_float_runtime_needs_no_encodings() -> None:
    paired = PairedRun(deployed(culprits.network(), "cpu"))
    floats, others = paired.run(culprits.inputs()[0])
    assert paired.encodings == {}
    np.testing.assert_allclose(floats["scores"], others["scores"], rtol=1e-5, atol=1e-5)
