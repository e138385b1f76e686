"""ONNX's interface to backends: what it runs, on which device, and what it refuses."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from hexsim import onnx_backend
from hexsim.errors import HexsimError
from hexsim.onnx_backend import HexsimBackend, prepare


def _model(nodes, inputs, outputs, opset=17) -> onnx.ModelProto:
    def values(named):
        return [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in named]

    graph = helper.make_graph(nodes, "g", values(inputs), values(outputs))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


FLOAT, BYTE = TensorProto.FLOAT, TensorProto.UINT8
RELU = _model(
    [helper.make_node("Relu", ["x"], ["y"])], [("x", FLOAT, [2, 3])], [("y", FLOAT, [2, 3])]
)
X = np.linspace(-2.2, 3.1, 6, dtype=np.float32).reshape(2, 3)


def test_the_module_is_a_backend_like_its_class() -> None:
    (by_module,) = onnx_backend.run_model(RELU, [X])
    (by_class,) = HexsimBackend.run_model(RELU, [X])
    assert np.array_equal(by_module, np.maximum(X, 0))
    assert np.array_equal(by_module, by_class)
    assert [onnx_backend.supports_device(d) for d in ("HTP", "DSP", "CUDA")] == [True, True, False]
    assert onnx_backend.is_compatible(RELU)


def test_the_dsp_computes_with_codes_of_the_inputs_it_is_given() -> None:
    (codes,) = prepare(RELU, "DSP").run({"x": X})
    expected = np.maximum(X, 0)
    assert 0 < np.abs(codes - expected).max() <= 5.3 / 255


def test_the_device_may_be_that_of_the_chip() -> None:
    (codes,) = prepare(RELU, "AUTO", chip="sd8gen4").run({"x": X})
    assert np.array_equal(codes, prepare(RELU, "HTP", chip="sd8gen4").run({"x": X})[0])
    assert 0 < np.abs(codes - np.maximum(X, 0)).max() <= 5.3 / 255


def test_weights_that_come_as_inputs_become_constants() -> None:
    model = _model(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        [("x", FLOAT, [1, 2, 4, 4]), ("w", FLOAT, [3, 2, 1, 1])],
        [("y", FLOAT, [1, 3, 4, 4])],
    )
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=s).astype(np.float32) for s in ((1, 2, 4, 4), (3, 2, 1, 1))]
    deployment = prepare(model, "DSP").deployment(arrays)
    assert [layer.type for layer in deployment.network.layers] == ["convolutional"]
    (y,) = prepare(model).run(arrays)
    expected = np.einsum("nchw,dc->ndhw", arrays[0], arrays[1][..., 0, 0])
    np.testing.assert_allclose(y, expected, atol=1e-5)


def test_integers_at_the_edges_are_exact_on_the_dsp() -> None:
    model = _model(
        [
            helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["a"]),
            helper.make_node("Add", ["a", "a"], ["b"]),
            helper.make_node("QuantizeLinear", ["b", "ys", "xz"], ["y"]),
        ],
        [("x", BYTE, [16, 16]), ("xs", FLOAT, []), ("ys", FLOAT, []), ("xz", BYTE, [])],
        [("y", BYTE, [16, 16])],
    )
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    scales = (np.float32(0.5), np.float32(1.0), np.uint8(7))
    (y,) = prepare(model, "DSP").run([codes, *scales])
    assert y.dtype == np.uint8
    assert np.array_equal(y, codes)


@pytest.mark.parametrize("chip", ["sd835", "sd865"])
def test_a_product_of_integers_is_exact_on_every_chip(chip: str) -> None:
    """It is a fully connected layer, whose weights are unsigned."""
    node = helper.make_node("QLinearMatMul", list("aijbklmn"), ["y"])
    x = np.uint8([[208, 236, 0, 238]])
    w = np.uint8([[51], [26], [127], [254]])
    scales = [np.float32([scale]) for scale in (0.0066, 0.00705, 0.0107)]
    zeros = [np.uint8([zero]) for zero in (113, 114, 118)]
    (sx, sw, sy), (zx, zw, zy) = scales, zeros
    arrays = [x, sx, zx, w, sw, zw, sy, zy]
    (y,) = onnx_backend.run_node(node, arrays, "DSP", chip=chip)
    assert y.tolist() == [[115]]


def test_one_node_runs() -> None:
    node = helper.make_node("Add", ["a", "b"], ["c"])
    (c,) = onnx_backend.run_node(node, [X, X], opset_version=17)
    assert np.array_equal(c, 2 * X)


def test_outputs_have_the_types_of_the_file() -> None:
    half = _model(
        [helper.make_node("Relu", ["x"], ["y"])],
        [("x", TensorProto.FLOAT16, [2, 3])],
        [("y", TensorProto.FLOAT16, [2, 3])],
    )
    (y,) = prepare(half).run([X.astype(np.float16)])
    assert y.dtype == np.float16


@pytest.mark.parametrize(
    ("device", "words"), [("CUDA", "unknown device 'CUDA'"), ("DSP", "cannot run on dsp")]
)
def test_what_does_not_run_is_refused(device: str, words: str) -> None:
    model = _model(
        [helper.make_node("Sin", ["x"], ["y"])],
        [("x", FLOAT, [2, 3])],
        [("y", FLOAT, [2, 3])],
    )
    with pytest.raises(HexsimError, match=words):
        prepare(model, device, stack="snpe-1.23").run([X])


def test_without_a_stack_no_release_refuses() -> None:
    model = _model(
        [helper.make_node("Sin", ["x"], ["y"])],
        [("x", FLOAT, [2, 3])],
        [("y", FLOAT, [2, 3])],
    )
    (y,) = prepare(model, "DSP").run([X])
    np.testing.assert_allclose(y, np.sin(X), atol=0.01)


def test_too_many_arrays_are_refused() -> None:
    with pytest.raises(HexsimError, match="2 arrays for 1 inputs"):
        prepare(RELU).run([X, X])
