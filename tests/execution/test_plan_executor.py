"""Plans execute: inputs are checked, subnets hand floats to one another."""

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import Network
from hexsim.inputs.seeded import seeded_inputs
from hexsim.inputs.stored import stored_inputs
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.reader import read
from hexsim.passes import optimise
from hexsim.planning.plan import Plan
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.deployed import planned


@pytest.fixture(scope="module")
def network() -> Network:
    """Convolution, an operator only the CPU has (Erf), convolution."""
    rng = np.random.default_rng(0)
    weights = {
        "w1": rng.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32),
        "w2": rng.normal(0, 0.3, (4, 8, 1, 1)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu1"),
        helper.make_node("Erf", ["b"], ["c"], "erf"),
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
    return optimise(read(model))


def _feeds(network: Network, count: int) -> list[dict[str, np.ndarray]]:
    shapes = {name: network.tensors[name].source_shape for name in network.inputs}
    return [stored_inputs(network, one) for one in seeded_inputs(shapes, count)]


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

    def outputs(plan: Plan, signed_weights: bool) -> list[np.ndarray]:
        executor = PlanExecutor(plan, model, signed_weights=signed_weights)
        return [executor.run(feed)["y"] for feed in feeds]

    on_hta = outputs(_on_aip(network, *sections), True)
    unsigned, rescaled = (outputs(_on_aip(network), signed) for signed in (False, True))
    assert all(map(np.array_equal, on_hta, unsigned))
    assert not all(map(np.array_equal, on_hta, rescaled))


def test_codes_survive_every_cut_between_the_engines(network: Network) -> None:
    """Floats between subnets are the codes in other words: a cut changes no output."""
    feeds = _feeds(network, 4)
    model = quantize(network, feeds)
    whole = PlanExecutor(_on_aip(network), model)
    for first in range(len(network.layers)):
        if network.layers[first].type == "opaque":
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
        PlanExecutor(plan, quantized, signed_weights=s).run(feeds[0])["y"] for s in (False, True)
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
