"""Plans execute: inputs are checked, subnets hand floats to one another."""

import gc
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.datasheets.signed_kernels import SignedKernels
from hexsim.dlc import reader, writer
from hexsim.errors import HexsimError
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import Network
from hexsim.inputs.seeded import seeded_inputs
from hexsim.inputs.stored import stored_inputs
from hexsim.layers import Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.planning.plan import Plan
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.deployed import planned
from tests.int8.single_layer import SIGNED


@pytest.fixture(scope="module")
def network() -> Network:
    """Convolution, an operator only the CPU has (Erf), convolution of asymmetric weights."""
    rng = np.random.default_rng(0)
    weights = {
        "w1": rng.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32),
        "w2": rng.normal(0.3, 0.3, (4, 8, 1, 1)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu1"),
        helper.make_node("Atan", ["b"], ["c"], "erf"),
        helper.make_node("Conv", ["c", "w2"], ["y"], "conv2"),
    ]
    graph = helper.make_graph(
        nodes,
        "mixed",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 6, 5])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return optimize(read(model))


def _feeds(network: Network, count: int) -> list[dict[str, np.ndarray]]:
    shapes = {name: network.tensors[name].source_shape for name in network.inputs}
    return [stored_inputs(network, seeded_input_) for seeded_input_ in seeded_inputs(shapes, count)]


def _on_aip(network: Network, *sections: range) -> Plan:
    names = [[network.layers[at].name for at in section] for section in sections]
    return planned(network, "aip", sections=names)


@pytest.mark.parametrize("bits", [8, 16])
def test_the_tensor_engine_takes_asymmetric_weights_as_they_are(
    network: Network, bits: int
) -> None:
    """So its codes are those of kernels without rescaling, and not those of HVX V65."""
    feeds = _feeds(network, 4)
    model = quantize(network, feeds, QuantizationOptions(activation_bits=bits))
    convs = [at for at, layer in enumerate(network.layers) if layer.type == "convolutional"]
    sections = [range(at, at + 1) for at in convs]

    def outputs(plan: Plan, kernels: SignedKernels | None) -> list[np.ndarray]:
        executor = PlanExecutor(plan, model, signed_kernels=kernels)
        return [executor.run(feed)["y"] for feed in feeds]

    on_hta = outputs(_on_aip(network, *sections), SIGNED)
    unsigned, rescaled = (outputs(_on_aip(network), each) for each in (None, SIGNED))
    assert all(map(np.array_equal, on_hta, unsigned))
    assert not all(map(np.array_equal, on_hta, rescaled))


def test_codes_survive_every_cut_between_the_engines(network: Network) -> None:
    """Floats between subnets are the codes in other words: a cut changes no output."""
    feeds = _feeds(network, 4)
    model = quantize(network, feeds)
    whole = PlanExecutor(_on_aip(network), model)
    for first in range(len(network.layers)):
        if isinstance(network.layers[first], Opaque):
            continue
        cut = PlanExecutor(_on_aip(network, range(first, first + 1)), model)
        for feed in feeds:
            assert np.array_equal(cut.run(feed)["y"], whole.run(feed)["y"])


def test_fallback_subnets_really_run_between_integer_ones(network: Network) -> None:
    plan = planned(network, "dsp")
    assert [subnet.runtime for subnet in plan.subnets] == ["dsp", "cpu", "dsp"]
    feeds = _feeds(network, 4)
    executor = PlanExecutor(plan, quantize(network, feeds))
    for feed in feeds:
        expected = FloatEngine(network).run(feed)["y"]
        got = executor.run(feed)["y"]
        assert got.shape == expected.shape == (1, 6, 5, 4)
        assert 0 < np.abs(got - expected).max() < 0.05 * np.ptp(expected)


def test_signed_weights_change_codes_not_meaning(network: Network) -> None:
    plan = planned(network, "dsp")
    feeds = _feeds(network, 2)
    quantized = quantize(network, feeds)
    unsigned, signed = (
        PlanExecutor(plan, quantized, signed_kernels=each).run(feeds[0])["y"]
        for each in (None, SIGNED)
    )
    assert np.abs(unsigned - signed).max() < 0.05 * np.ptp(unsigned)


def test_float_runtimes_need_no_encodings(network: Network) -> None:
    feed = _feeds(network, 1)[0]
    expected = FloatEngine(network).run(feed)["y"]
    outputs = {
        runtime: PlanExecutor(planned(network, runtime), Model(network)).run(feed)["y"]
        for runtime in ("cpu", "gpu", "gpu_fp16")
    }
    np.testing.assert_array_equal(outputs["cpu"], expected)
    assert 0 < np.abs(outputs["gpu"] - expected).max() < 0.01 * np.ptp(expected)


def test_integer_runtimes_do(network: Network) -> None:
    plan = planned(network, "dsp")
    with pytest.raises(HexsimError, match="computes in integers"):
        PlanExecutor(plan, Model(network))


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({}, "has the inputs x; got none"),
        ({"x": np.zeros((1, 3, 6, 5)), "z": np.zeros(1)}, "got x, z"),
        ({"x": np.zeros((1, 6, 5, 3))}, "shape 1x6x5x3, the model expects 1x3x6x5"),
        ({"x": np.array([["a"]])}, "dtype <U1"),
        ({"x": np.full((1, 3, 6, 5), np.inf)}, "NaN or infinite"),
    ],
)
def test_unusable_inputs_are_named(
    network: Network, arrays: dict[str, np.ndarray], sentence: str
) -> None:
    with pytest.raises(HexsimError, match=sentence):
        stored_inputs(network, arrays)


def _with_constant_operands() -> Network:
    """Convolution times a constant; beside it a slice of it, scaled and moved by constants."""
    rng = np.random.default_rng(2)
    weights = {
        "w": rng.normal(0, 0.3, (16, 3, 3, 3)),
        "c": rng.uniform(0.5, 2, (1, 16, 24, 20)),
        "scale": rng.uniform(0.5, 2, (1, 8, 24, 20)),
        "move": rng.normal(0, 1, (1, 8, 24, 20)),
    }
    integers = {"starts": [4], "ends": [12], "axes": [1]}
    constants = {name: value.astype(np.float32) for name, value in weights.items()}
    constants |= {name: np.array(value, np.int64) for name, value in integers.items()}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("Mul", ["b", "c"], ["y"], "product"),
        helper.make_node("Slice", ["b", *integers], ["part"], "slice"),
        helper.make_node("Mul", ["part", "scale"], ["scaled"], "scaling"),
        helper.make_node("Add", ["scaled", "move"], ["boxes"], "moving"),
    ]
    graph = helper.make_graph(
        nodes,
        "constants",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 24, 20])],
        [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in ("y", "boxes")],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return optimize(read(model))


@pytest.mark.parametrize("bits", [8, 16])
def test_an_executor_needs_no_file_once_it_is_made(tmp_path: Path, bits: int) -> None:
    """Codes of a file are remembered for as long as somebody holds them: here, the executor."""
    network = _with_constant_operands()
    feeds = _feeds(network, 2)
    model = quantize(network, feeds, QuantizationOptions(activation_bits=bits))
    plan = planned(network)
    executor = PlanExecutor(plan, model)
    expected = [executor.run(feed) for feed in feeds]
    writer.write(tmp_path / "model.dlc", model)

    from_file = reader.read(tmp_path / "model.dlc").model
    executor = PlanExecutor(planned(network), from_file)
    del from_file
    gc.collect()
    churned = [np.full(2 << at, 255, np.uint8) for at in range(6, 20) for _ in range(20)]
    for feed, outputs in zip(feeds, expected, strict=True):
        computed = executor.run(feed)
        for name, array in outputs.items():
            assert np.unique(array).size > 50
            np.testing.assert_array_equal(computed[name], array, err_msg=name)
    assert len(churned) == 14 * 20
