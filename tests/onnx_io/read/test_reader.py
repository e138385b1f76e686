"""The reader: names, folding, laziness, opaque nodes, axis order, and what it refuses."""

import math
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.layers import Convolution, Elementwise, Opaque, Permute, Reshape
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from tests.onnx_io.read.expansions.judged import assert_same, fused, model_of

Make = Callable[..., onnx.ModelProto]
Agree = Callable[..., object]
node = helper.make_node


def test_layers_are_named_by_node_or_output_and_unique(onnx_model: Make) -> None:
    nodes = [
        node("Relu", ["x"], ["a"], name="act"),
        node("Relu", ["a"], ["b"], name="act"),
        node("Relu", ["b"], ["y"]),
    ]
    network = read(onnx_model(nodes, {"x": (1, 4)}, ["y"]), name="mine")
    assert network.name == "mine"
    assert [layer.name for layer in network.layers] == ["act", "act_1", "y"]


def test_added_permutes_keep_clear_of_names_in_the_file(onnx_model: Make) -> None:
    nodes = [
        node("Hardmax", ["x"], ["a"], name="x.nchw_1"),
        node("Relu", ["a"], ["x.nchw"]),
    ]
    network = read(onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["x.nchw"]))
    network.check()
    assert len({layer.name for layer in network.layers}) == len(network.layers) == 3


def test_initializers_listed_as_inputs_are_weights(onnx_model: Make) -> None:
    weights = {"w": np.ones((2, 3, 1, 1))}
    model = onnx_model([node("Conv", ["x", "w"], ["y"])], {"x": (1, 3, 4, 4)}, ["y"], weights)
    model.graph.input.append(helper.make_tensor_value_info("w", 1, [2, 3, 1, 1]))
    assert read(model).inputs == ("x",)


def test_constant_subgraphs_fold(onnx_model: Make, agree: Agree) -> None:
    value = numpy_helper.from_array(np.array([2.0], np.float32))
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["batch"], axis=0),
        node("Unsqueeze", ["batch", "zero"], ["batches"]),
        node("Concat", ["batches", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["flat"]),
        node("ConstantOfShape", ["wide"], ["w"], value=value),
        node("Identity", ["w"], ["w2"]),
        node("MatMul", ["flat", "w2"], ["y"]),
    ]
    weights = {"zero": [0], "rest": [-1], "wide": [48, 5]}
    weights["zero"] = np.array(0)
    nodes[2] = node("Unsqueeze", ["batch", "axes"], ["batches"])
    weights["axes"] = [0]
    model = onnx_model(nodes, {"x": ("N", 3, 4, 4)}, ["y"], weights)
    network = agree(model).read  # type: ignore[attr-defined]
    assert [layer.type for layer in network.layers] == ["permute", "reshape", "fully_connected"]
    assert np.array_equal(network.constants["w2"].value(), np.full((48, 5), 2.0))


@pytest.mark.parametrize("data", [(1, 70), (3, 5)])
def test_constants_fold_that_the_evaluator_of_onnx_cannot_compute(
    onnx_model: Make, agree: Agree, data: tuple[int, int]
) -> None:
    """It gathers from less than 64 places, and refuses fewer rows of indices than of data."""
    table = np.arange(math.prod(data), dtype=np.float32).reshape(data)
    nodes = [
        node("GatherElements", ["table", "places"], ["row"], axis=1),
        node("Add", ["x", "row"], ["y"]),
    ]
    weights = {"table": table, "places": np.array([[4, 0, data[1] - 1]])}
    network = agree(onnx_model(nodes, {"x": (1, 3)}, ["y"], weights)).read  # type: ignore[attr-defined]
    assert np.array_equal(network.constants["row"].value(), [[4, 0, data[1] - 1]])


def test_size_and_slices_of_shapes_fold(onnx_model: Make) -> None:
    nodes = [
        node("Size", ["x"], ["size"]),
        node("Shape", ["x"], ["batch"], start=0, end=1),
        node("Unsqueeze", ["size", "zero"], ["sizes"]),
        node("Concat", ["batch", "sizes"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    network = read(onnx_model(nodes, {"x": (1, 6, 2)}, ["y"], {"zero": [0]}))
    assert network.tensors["y"].shape == (1, 12)


def test_constants_of_every_kind(onnx_model: Make, agree: Agree) -> None:
    nodes = [
        node("Constant", [], ["a"], value=numpy_helper.from_array(np.float32([1, 2, 3]))),
        node("Constant", [], ["b"], value_float=2.0),
        node("Constant", [], ["c"], value_floats=[1.0, 2.0, 3.0]),
        node("Add", ["x", "a"], ["p"]),
        node("Mul", ["p", "b"], ["q"]),
        node("Sub", ["q", "c"], ["y"]),
    ]
    agree(onnx_model(nodes, {"x": (2, 3)}, ["y"]))


def test_one_weight_in_two_forms(onnx_model: Make, agree: Agree) -> None:
    nodes = [
        node("Gemm", ["x", "w"], ["a"]),
        node("Gemm", ["a", "w"], ["y"], transB=1),
    ]
    weights = {"w": np.random.default_rng(0).standard_normal((6, 6))}
    network = agree(onnx_model(nodes, {"x": (1, 6)}, ["y"], weights)).read  # type: ignore[attr-defined]
    assert len(network.constants) == 2


def test_reading_touches_no_weight(onnx_model: Make) -> None:
    shape = (64, 32, 3, 3)
    names = ["gamma", "beta", "mean", "var"]
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("BatchNormalization", ["a", *names], ["b"]),
        node("Flatten", ["b"], ["c"]),
        node("Gemm", ["c", "m"], ["y"]),
    ]
    model = onnx_model(nodes, {"x": (1, 32, 5, 5)}, ["y"])
    sizes = {"w": shape, **dict.fromkeys(names, (64,)), "m": (64 * 9, 10)}
    for name, dims in sizes.items():
        tensor = onnx.TensorProto(
            name=name, dims=dims, data_type=1, data_location=onnx.TensorProto.EXTERNAL
        )
        tensor.external_data.add(key="location", value="hexsim.models")
        model.graph.initializer.append(tensor)

    def touched() -> np.ndarray:
        raise AssertionError("a weight was read")

    network = optimize(read(model, weights=dict.fromkeys(sizes, touched)))
    assert network.total_parameters == 64 * 32 * 9 + 64 + 64 * 9 * 10


def test_images_are_stored_channels_last(onnx_model: Make) -> None:
    weights = {"w": np.ones((2, 3, 1, 1))}
    model = onnx_model([node("Conv", ["x", "w"], ["y"])], {"x": (1, 3, 4, 5)}, ["y"], weights)
    network = read(model)
    assert network.tensors["y"].shape == (1, 4, 5, 2)
    assert network.tensors["y"].source_shape == (1, 2, 4, 5)
    assert network.constants["w"].shape == (1, 1, 3, 2)


def test_a_file_that_is_channels_last_itself_needs_no_permute(
    onnx_model: Make, agree: Agree
) -> None:
    nodes = [
        node("Transpose", ["x"], ["a"], perm=[0, 3, 1, 2]),
        node("Conv", ["a", "w"], ["b"]),
        node("Transpose", ["b"], ["y"], perm=[0, 2, 3, 1]),
    ]
    weights = {"w": np.random.default_rng(1).standard_normal((2, 3, 2, 2))}
    agreement = agree(onnx_model(nodes, {"x": (1, 5, 4, 3)}, ["y"], weights))
    optimized = agreement.optimized  # type: ignore[attr-defined]
    assert [type(layer) for layer in optimized.layers] == [Convolution]
    assert optimized.tensors["y"].source_shape == (1, 4, 3, 2)


def test_it_may_quantise_first(onnx_model: Make) -> None:
    nodes = [
        node("QuantizeLinear", ["x", "step", "zero"], ["q"]),
        node("DequantizeLinear", ["q", "step", "zero"], ["r"]),
        node("Transpose", ["r"], ["a"], perm=[0, 3, 1, 2]),
        node("Conv", ["a", "w"], ["y"]),
    ]
    weights = {"w": np.ones((2, 3, 2, 2)), "step": np.array(0.1), "zero": np.array(0, np.int8)}
    network = optimize(read(onnx_model(nodes, {"x": (1, 5, 4, 3)}, ["y"], weights)))
    assert [type(layer) for layer in network.layers] == [Convolution]
    assert network.tensors["x"].shape == (1, 5, 4, 3)


def test_opaque_nodes_work_in_source_order(onnx_model: Make, agree: Agree) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("CumSum", ["a", "axis"], ["b"]),
        node("Conv", ["b", "w"], ["y"]),
    ]
    weights = {"w": np.random.default_rng(1).standard_normal((3, 3, 2, 2)), "axis": np.array(1)}
    network = agree(onnx_model(nodes, {"x": (1, 3, 5, 4)}, ["y"], weights)).read  # type: ignore[attr-defined]
    kinds = [type(layer) for layer in network.layers]
    assert kinds == [Convolution, Permute, Opaque, Permute, Convolution]
    opaque = network.layers[2]
    assert (opaque.op_type, opaque.opset, opaque.inputs) == ("CumSum", 17, ("a.nchw", "axis"))


def test_a_permute_is_shared(onnx_model: Make, agree: Agree) -> None:
    nodes = [
        node("Hardmax", ["x"], ["a"]),
        node("LogSoftmax", ["x"], ["b"]),
        node("Add", ["a", "b"], ["y"]),
    ]
    network = agree(onnx_model(nodes, {"x": (1, 3, 5, 4)}, ["y"])).read  # type: ignore[attr-defined]
    assert [type(layer) for layer in network.layers] == [Permute, Opaque, Opaque, Elementwise]


def test_operators_of_other_domains_use_the_shapes_in_the_file(onnx_model: Make) -> None:
    model = onnx_model(
        [node("Wave", ["x"], ["a"], domain="com.microsoft"), node("Relu", ["a"], ["y"])],
        {"x": (1, 4)},
        ["y"],
    )
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(HexsimError, match=r"node 'a' \(com.microsoft.Wave\).*unknown to onnx"):
        read(model)
    model.graph.value_info.append(helper.make_tensor_value_info("a", 1, [1, 4]))
    layer = read(model).layers[0]
    assert isinstance(layer, Opaque)
    assert layer.op_type == "com.microsoft.Wave"


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        ([node("SequenceConstruct", ["x"], ["y"])], r"\(SequenceConstruct\): .* is a sequence"),
        ([node("Relu", ["nowhere"], ["y"])], r"\(Relu\): reads 'nowhere', which no input"),
        ([node("Relu", ["x"], ["x"])], r"\(Relu\): writes 'x', which exists already"),
        ([node("Nonsense", ["x"], ["y"])], r"\(Nonsense\): there is no such operator in opset 13"),
        ([node("Relu", ["x"], ["y"], slope=1.0)], r"\(Relu\): has the attribute slope, unknown"),
        ([node("Concat", ["x", "w"], ["y"], axis=1)], r"\(Concat\): cannot join"),
        ([node("Concat", ["x", "x"], ["y"], axis=4)], r"\(Concat\): axis 4 does not exist"),
        ([node("Add", ["x", "w"], ["y"])], r"\(Add\): operands of the shapes .* do not broadcast"),
        ([node("Reshape", ["x", "s"], ["y"])], r"\(Reshape\): cannot reshape \[1, 3, 4, 4\] to"),
        ([node("Conv", ["x", "w"], ["y"])], r"\(Conv\): weight \[2, 5, 1, 1\] with group 1"),
        (
            [node("MaxPool", ["x"], ["y"], kernel_shape=[9, 9])],
            r"\(MaxPool\): its window spans 9 pixels of an axis that has 4",
        ),
        ([node("Identity", ["s"], ["y"])], r"output 'y' of model 'small' does not depend"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(
    nodes: list[onnx.NodeProto], sentence: str, onnx_model: Make
) -> None:
    weights = {"w": np.ones((2, 5, 1, 1)), "s": [1, 7]}
    model = onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["y"], weights, opset=13)
    with pytest.raises(HexsimError, match=sentence):
        read(model)


def test_an_output_that_the_operator_does_not_have_is_refused(onnx_model: Make) -> None:
    coded = node(
        "QuantizeLinear", ["x", "s", "z"], ["q", "more"], domain="com.microsoft", name="code"
    )
    constants = {"s": np.array(0.1, np.float32), "z": np.array([3, 4], np.int64)}
    made = onnx_model([coded], {"x": (1, 2)}, ["q"], constants)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(HexsimError, match=r"'code' .* has no output 'more' at this place"):
        read(made)


def test_control_flow_of_its_own_is_an_opaque_layer(onnx_model: Make, agree: Agree) -> None:
    value = numpy_helper.from_array(np.ones((1, 3), np.float32))
    out = helper.make_tensor_value_info("o", 1, [1, 3])
    branch = helper.make_graph([node("Constant", [], ["o"], value=value)], "b", [], [out])
    nodes = [
        node("ReduceProd", ["x"], ["s"], keepdims=0),
        node("Cast", ["s"], ["b"], to=9),
        node("If", ["b"], ["one"], then_branch=branch, else_branch=branch),
        node("Add", ["x", "one"], ["y"]),
    ]
    network = agree(onnx_model(nodes, {"x": (1, 3)}, ["y"], opset=13)).read  # type: ignore[attr-defined]
    assert [layer.type for layer in network.layers] == [
        "ReduceProd",
        "Cast",
        "If",
        Elementwise.type,
    ]


def test_broken_weights_are_named_when_read(onnx_model: Make) -> None:
    weights = {"w": np.full((3, 2), np.nan)}
    network = read(onnx_model([node("MatMul", ["x", "w"], ["y"])], {"x": (1, 3)}, ["y"], weights))
    with pytest.raises(HexsimError, match="weight tensor 'w' holds NaN values"):
        FloatEngine(network)


def test_integer_tensors_keep_their_type(onnx_model: Make) -> None:
    model = onnx_model([node("Reshape", ["x", "s"], ["y"])], {"x": (1, 6)}, ["y"], {"s": [2, 3]})
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    network = read(model)
    assert isinstance(network.layers[0], Reshape)
    assert network.tensors["y"].dtype == "int64"


@pytest.mark.parametrize(
    ("node", "shapes", "weights"),
    [
        (fused("Inverse", "x"), [(2, 3, 3)], []),
        (fused("Trilu", "x"), [(4, 5)], []),
        (fused("UnfoldTensor", "x", dim=1, size=3, step=2), [(2, 9)], []),
        (fused("GridSample", "x g"), [(1, 2, 5, 5), (1, 3, 4, 2)], []),
        (fused("MoE", "x g w - v", k=1), [(6, 8), (6, 2)], [(2, 16, 8), (2, 8, 16)]),
        (fused("QMoE", "x"), [(6, 8)], None),
        (fused("CDist", "x g", metric="euclidean"), [(5, 3), (4, 3)], None),
    ],
    ids=lambda value: value.op_type if isinstance(value, onnx.NodeProto) else "",
)
def test_onnxruntime_knows_shapes_of_operators_that_onnx_does_not(
    node: onnx.NodeProto, shapes: list[tuple[int, ...]], weights: list[tuple[int, ...]] | None
) -> None:
    """Such a node is opaque, and the CPU runs it; one of which it knows none is refused."""
    if node.op_type == "MoE" and onnxruntime.__version__.startswith(("1.20.", "1.21.", "1.22.")):
        pytest.skip("onnxruntime infers the shape of MoE from 1.23 on")
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    more = [random.standard_normal(shape).astype(np.float32) for shape in weights or []]
    feed = dict(zip("xg", arrays, strict=False))
    model = model_of([node], feed, dict(zip("wv", more, strict=False)), "y")
    if weights is not None:
        assert_same(model, feed, opaque=[f"com.microsoft.{node.op_type}"])
        return
    with pytest.raises(HexsimError, match=r"output 'y' cannot be inferred.*hexsim.use_layers"):
        read(model)
