"""Nodes whose results are as large as values decide, and what follows of them, are one layer.

The most that operators return, worked by hand.
"""

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Convolution, Opaque
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.dynamic_shapes import most_elements
from hexsim.onnx_io.read.node_results import NodeInput
from hexsim.onnx_io.read.reader import read, read_with_codes
from hexsim.onnx_io.write.emitters.opaque import nodes_of
from hexsim.passes import optimize
from tests.conftest import Arrays

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
RNG = np.random.default_rng(8)
FILTERS = RNG.standard_normal((4, 2, 3, 3)).astype(np.float32)


def parts(network: Network) -> list[Opaque]:
    return [
        layer for layer in network.layers if isinstance(layer, Opaque) and layer.sized_by_values
    ]


def same_as_onnxruntime(model: onnx.ModelProto, network: Network, feeds: Sequence[Arrays]) -> None:
    """Values, and shapes which differ from input to input, are those of the file."""
    for value in model.graph.output:  # their types are whatever comes
        value.CopyFrom(helper.make_empty_tensor_value_info(value.name))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    engine = FloatEngine(network)
    names = [value.name for value in model.graph.output]
    for feed in feeds:
        stored = {n: network.tensors[n].from_source(array) for n, array in feed.items()}
        outputs = engine.run(stored)
        for name, expected in zip(names, session.run(names, feed), strict=True):
            tensor = network.tensors[name]
            np.testing.assert_allclose(tensor.to_source(outputs[name]), expected, atol=1e-6)
            assert tensor.dtype == expected.dtype.name
            for axis, size in enumerate(expected.shape):
                most = tensor.source_shape[axis]
                assert size <= most if tensor.order.index(axis) in tensor.varies else size == most


def drawn(*shape: int) -> list[Arrays]:
    return [{"x": RNG.normal(shift, 1, shape).astype(np.float32)} for shift in (-2, 0, 0, 2)]


def boxes_of(onnx_model: Make, *extra: onnx.NodeProto, outputs: Sequence[str]) -> onnx.ModelProto:
    """Boxes and scores out of a convolution, chosen, and what `extra` makes of the choice."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        node("Reshape", ["c", "rows"], ["r"], name="rows"),
        node("Transpose", ["r"], ["boxes"], name="boxes", perm=[0, 2, 1]),
        node("ReduceMax", ["r"], ["scores"], name="scores", axes=[1], keepdims=1),
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["chosen"]),
        *extra,
    ]
    weights = {
        "w": FILTERS,
        "rows": [1, 4, 30],
        "most": [10],
        "overlap": 0.5,
        "least": 0.5,
        **{"one": [1], "two": 2, "first": [0], "all": [-1], "five": [5]},
    }
    return onnx_model(nodes, {"x": (1, 2, 5, 6)}, outputs, weights, 13)


def test_a_choice_and_what_follows_are_one_layer(onnx_model: Make) -> None:
    model = boxes_of(
        onnx_model,
        node("Gather", ["chosen", "two"], ["which"], axis=1, name="which"),
        node("Squeeze", ["boxes", "first"], ["flat"], name="flat"),
        node("Gather", ["flat", "which"], ["y"], axis=0, name="kept"),
        outputs=["y", "chosen"],
    )
    imported = read_with_codes(model)
    (part,) = parts(imported.network)
    assert (part.name, part.type) == ("chosen", "NonMaxSuppression +2")
    assert part.fused == ("which", "kept")
    assert part.outputs == ("chosen", "y")
    tensors = imported.network.tensors
    assert (tensors["y"].shape, tensors["y"].varies) == ((10, 4), (0,))
    assert (tensors["chosen"].shape, tensors["chosen"].varies) == ((10, 3), (0,))
    assert part.operations > 30 * 5 + 10 * 9 / 2 * 10, "30 boxes sorted, pairs of ten, and more"
    assert part.operations < 30 * 29 / 2 * 10, "not every pair of boxes"
    assert imported.report.notes == (
        "node 'chosen' (NonMaxSuppression) is timed for the most it may keep, 10 boxes of each of "
        "1 classes, none of them suppressed; the score threshold may leave fewer",
    )
    (opaque_node,) = (node for node in imported.report.opaque if node.name == "chosen")
    assert "depends on values" in opaque_node.reason
    optimize(imported.network).check()
    same_as_onnxruntime(model, optimize(imported.network), drawn(1, 2, 5, 6))


def test_one_node_is_named_as_it_is(onnx_model: Make) -> None:
    network = read(boxes_of(onnx_model, outputs=["chosen"]))
    assert [part.type for part in parts(network)] == ["NonMaxSuppression"]


def test_arithmetic_with_sizes_gives_bounds(onnx_model: Make) -> None:
    """At most five of those chosen, padded to five: sizes that values decide, and one known."""
    model = boxes_of(
        onnx_model,
        node("Gather", ["chosen", "two"], ["which"], axis=1),
        node("Reshape", ["scores", "all"], ["flat"]),
        node("Gather", ["flat", "which"], ["score"]),
        node("Shape", ["score"], ["many"]),
        node("Min", ["many", "five"], ["few"]),
        node("TopK", ["score", "few"], ["y", "place"], axis=0),
        node("Shape", ["y"], ["had"]),
        node("Sub", ["five", "had"], ["lacks"]),
        node("Concat", ["first", "lacks"], ["pads"], axis=0),
        node("Pad", ["y", "pads"], ["padded"]),
        outputs=["y", "padded"],
    )
    network = read(model)
    assert (network.tensors["y"].shape, network.tensors["y"].varies) == ((5,), (0,))
    assert (network.tensors["padded"].shape, network.tensors["padded"].varies) == ((5,), ())
    same_as_onnxruntime(model, network, drawn(1, 2, 5, 6))


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "shape"),
    [
        ("NonZero", ["x"], {}, (3, 24)),
        ("Unique", ["x"], {}, (24,)),
        ("Unique", ["x"], {"axis": 1}, (2, 3, 4)),
        ("Compress", ["x", "m"], {}, (3,)),
        ("Compress", ["x", "m"], {"axis": 1}, (2, 3, 4)),
        ("Slice", ["x", "k", "end"], {}, (2, 3, 4)),
        ("TopK", ["x", "k"], {}, (2, 3, 4)),
    ],
)
def test_every_operator_of_unknown_size(
    onnx_model: Make,
    operator: str,
    inputs: list[str],
    attributes: dict[str, int],
    shape: tuple[int, ...],
) -> None:
    outputs = ["y", "places"] if operator == "TopK" else ["y"]
    nodes = [
        node("ReduceMax", ["x"], ["top"], axes=[0, 2], keepdims=0),
        node("Greater", ["top", "t"], ["m"]),
        node("Cast", ["m"], ["ones"], to=TensorProto.INT64),
        node("ReduceMax", ["ones"], ["k1"], keepdims=0),
        node("Reshape", ["k1", "all"], ["k"]),
        node(operator, inputs, outputs, name="op", **attributes),
        node("Cast", ["y"], ["z"], to=TensorProto.FLOAT),
    ]
    weights = {"t": 0.5, "all": [-1], "end": [9]}
    model = onnx_model(nodes, {"x": (2, 3, 4)}, ["z"], weights, 13)
    network = read(model)
    assert [part.type for part in parts(network)] == [f"{operator} +1"]
    assert network.tensors["z"].shape == shape
    same_as_onnxruntime(model, network, drawn(2, 3, 4))


def test_a_product_of_known_shape_leaves(onnx_model: Make) -> None:
    """Three boxes are cut out and convolved: that is a layer of ours, and a second tail follows."""
    nodes = [
        node("NonZero", ["x"], ["places"], name="places"),
        node("Slice", ["places", "zero", "three", "one"], ["some"], name="some"),
        node("Transpose", ["some"], ["turned"], name="turned"),
        node("GatherND", ["x", "turned"], ["picked"], name="picked"),
        node("Reshape", ["picked", "image"], ["i"], name="image"),
        node("Conv", ["i", "w"], ["c"], name="conv"),
        node("Reshape", ["c", "all"], ["flat"], name="flat"),
        node("Greater", ["flat", "t"], ["mask"], name="mask"),
        node("Compress", ["flat", "mask"], ["y"], name="compress"),
        node("Gather", ["turned", "first"], ["z"], name="z"),
    ]
    weights = {"zero": [0], "three": [3], "one": [1], "image": [1, 1, 3, 1], "all": [-1], "t": 0.0}
    weights |= {"w": RNG.standard_normal((2, 1, 1, 1)), "first": [0]}
    model = onnx_model(nodes, {"x": (2, 3)}, ["y", "z"], weights, 13)
    network = optimize(read(model))
    network.check()
    assert [part.name for part in parts(network)] == ["places", "compress"]
    names = [layer.name for layer in network.layers]
    conv = next(i for i, layer in enumerate(network.layers) if isinstance(layer, Convolution))
    assert names.index("places") < conv < names.index("compress")
    same_as_onnxruntime(model, network, drawn(2, 3))


def test_tails_that_do_not_need_each_other_are_one(onnx_model: Make) -> None:
    nodes = [
        node("NonZero", ["x"], ["a"], name="first"),
        node("Abs", ["x"], ["b"], name="abs"),
        node("NonZero", ["b"], ["c"], name="second"),
        node("NonZero", ["b"], ["unread"], name="third"),
    ]
    network = read(onnx_model(nodes, {"x": (2, 3)}, ["a", "c"], {}, 13))
    (part,) = parts(network)
    assert (part.name, part.type, part.fused) == ("first", "NonZero +1", ("second",))
    assert network.layers[-1] is part, "what it reads comes before it"


def test_what_has_no_bound_is_refused(onnx_model: Make) -> None:
    nodes = [
        node("ReduceMax", ["x"], ["m"], keepdims=0),
        node("Cast", ["m"], ["n"], to=TensorProto.INT64),
        node("Range", ["zero", "n", "one"], ["y"], name="range"),
    ]
    model = onnx_model(nodes, {"x": (2, 3)}, ["y"], {"zero": 0, "one": 1}, 13)
    with pytest.raises(
        HexsimError, match=r"'range' \(Range\).*end the network before .*output_names"
    ):
        read(model)


def branch(*nodes: onnx.NodeProto, **initializers: object) -> onnx.GraphProto:
    arrays = [numpy_helper.from_array(np.asarray(v), n) for n, v in initializers.items()]
    end = helper.make_empty_tensor_value_info(nodes[-1].output[0])
    return helper.make_graph(nodes, "branch", [], [end], arrays)


POSITIVE = [
    node("Greater", ["x", "zero"], ["positive"]),
    node("NonZero", ["positive"], ["places"], name="places"),
]


@pytest.mark.parametrize("own", [True, False])
def test_a_branch_taken_by_values(onnx_model: Make, own: bool) -> None:
    """A detector has nothing to do if no box is left; a choice begins in a branch, or before it."""
    nodes = [
        *POSITIVE,
        node("ReduceMax", ["x"], ["most"], keepdims=0),
        node("Less", ["most", "zero"], ["none"]),
        node(
            "If",
            ["none"],
            ["y"],
            name="if",
            then_branch=branch(node("Identity", ["empty"], ["t"]), empty=np.zeros((2, 0), int)),
            else_branch=branch(
                node("NonZero", ["positive"], ["i"]) if own else node("Neg", ["places"], ["i"]),
                node("Mul", ["i", "two"], ["e"], name="product"),
                two=np.int64(2),
            ),
        ),
    ]
    model = onnx_model(nodes, {"x": (2, 3)}, ["y"], {"zero": 0.0}, 13)
    network = read(model)
    (part,) = parts(network)
    assert "If" in part.op_type or "If" in [inner.op_type for inner in nodes_of(part)]
    assert part.shapes == ((2, 6),)
    assert part.operations >= 2 * 6, "the branch of more work counts"
    same_as_onnxruntime(model, network, drawn(2, 3))


def test_sizes_may_choose_the_branch(onnx_model: Make) -> None:
    """Without any box the other branch is run, whose result has another rank."""
    nodes = [
        *POSITIVE,
        node("Size", ["places"], ["size"]),
        node("Equal", ["size", "no"], ["none"]),
        node(
            "If",
            ["none"],
            ["y"],
            then_branch=branch(node("Flatten", ["places"], ["t"], axis=1)),
            else_branch=branch(node("Transpose", ["places"], ["e"])),
        ),
    ]
    model = onnx_model(nodes, {"x": (2, 3)}, ["y"], {"zero": 0.0, "no": 0}, 13)
    network = read(model)
    assert parts(network)[0].shapes == ((6, 2),)
    same_as_onnxruntime(model, network, drawn(2, 3)[2:])


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (branch(node("Flatten", ["z"], ["f"]), z=np.ones(2, int)), None),
        (branch(node("Shape", ["places"], ["f"])), "different ranks"),
        (branch(node("Cast", ["places"], ["f"], to=TensorProto.FLOAT)), "ranks or types"),
        (branch(node("Add", ["unknown", "unknown"], ["f"])), "unknown"),
        (branch(node("Range", ["n", "n", "n"], ["f"])), "end the network before"),
        (branch(node("Reshape", ["places", "to"], ["f"]), to=np.array([5, -1])), None),
    ],
)
def test_branches_that_do_not_fit(
    onnx_model: Make, other: onnx.GraphProto, sentence: str | None
) -> None:
    """One that does not fit the sizes is not taken; two that differ in rank or type are refused."""
    nodes = [
        *POSITIVE,
        node("ReduceMax", ["x"], ["m"], keepdims=0),
        node("Cast", ["m"], ["n"], to=TensorProto.INT64),
        node("Less", ["m", "zero"], ["holds"]),
        node(
            "If",
            ["holds"],
            ["y"],
            then_branch=other,
            else_branch=branch(node("Neg", ["places"], ["e"])),
        ),
    ]
    model = onnx_model(nodes, {"x": (2, 3)}, ["y"], {"zero": 0.0}, 13)
    if sentence is None:
        assert parts(read(model))[0].shapes == ((2, 6),)
        return
    with pytest.raises(HexsimError, match=sentence):
        read(model)


def test_shapes_that_follow_from_sizes(onnx_model: Make) -> None:
    """All operators that take a shape as a tensor, and one that rearranges what it is given."""
    nodes = [
        node("NonZero", ["x"], ["places"], name="places"),
        node("Shape", ["places"], ["shape"]),
        node("Gather", ["shape", "one"], ["many"]),
        node("Squeeze", ["many"], ["number"]),
        node("Range", ["zero", "number", "step"], ["counted"]),
        node("Reshape", ["counted", "column"], ["column1"]),
        node("ConstantOfShape", ["many"], ["constant"]),
        node("Concat", ["one", "many"], ["wide"], axis=0),
        node("Expand", ["x", "cube"], ["expanded"]),
        node("Concat", ["one", "many", "one"], ["times"], axis=0),
        node("Tile", ["expanded", "times"], ["tiled"]),
        node("Reshape", ["constant", "wide"], ["line"]),
        node("Concat", ["one", "one", "many", "many"], ["size"], axis=0),
        node("Reshape", ["x", "image"], ["picture"]),
        node("Resize", ["picture", "", "", "size"], ["resized"], mode="nearest"),
        node("Cast", ["column1"], ["column2"], to=TensorProto.FLOAT),
    ]
    weights = {"one": [1], "zero": 0, "step": 1, "column": [-1, 1], "cube": [1, 2, 3]}
    outputs = ["column2", "tiled", "line", "resized"]
    model = onnx_model(nodes, {"x": (2, 3)}, outputs, {**weights, "image": [1, 1, 2, 3]}, 13)
    network = read(model)
    (part,) = parts(network)
    assert part.type == f"NonZero +{len(part.fused)}"
    shapes = {name: (network.tensors[name].shape, network.tensors[name].varies) for name in outputs}
    assert shapes == {
        "column2": ((6, 1), (0,)),
        "tiled": ((1, 12, 3), (1,)),
        "line": ((1, 6), (1,)),
        "resized": ((1, 1, 6, 6), (2, 3)),
    }
    some = [{"x": np.float32([[1, 0, 2], [0, 3, bottom]])} for bottom in (0, 4)]
    same_as_onnxruntime(model, network, some)


BOXES = {"b": NodeInput((2, 30, 4), "float32"), "s": NodeInput((2, 5, 30), "float32")}


@pytest.mark.parametrize(
    ("most", "rows"),
    [(7, 2 * 5 * 7), (100, 2 * 5 * 30), (0, 0), (None, 2 * 5 * 30)],
)
def test_boxes_of_all_classes(most: int | None, rows: int) -> None:
    """Seven of each class, no more than there are; a computed number bounds nothing."""
    value = None if most is None else np.array([most])
    node = OnnxNode(helper.make_node("NonMaxSuppression", ["b", "s", "m"], ["y"]), "n", 13)
    operands = {**BOXES, "m": NodeInput((1,), "int64", value)}
    assert most_elements(node, operands) == {"y": (rows, 3)}


def test_no_box_is_what_the_standard_says_of_no_number() -> None:
    node = OnnxNode(helper.make_node("NonMaxSuppression", ["b", "s"], ["y"]), "n", 13)
    assert most_elements(node, BOXES) == {"y": (0, 3)}


def test_unnamed_outputs_have_none() -> None:
    node = OnnxNode(helper.make_node("Unique", ["s"], ["y", "", "z"], axis=2), "n", 13)
    assert most_elements(node, BOXES) == {"y": (2, 5, 30), "z": (30,)}


def test_other_operators_have_no_bound() -> None:
    node = OnnxNode(helper.make_node("Range", ["a", "s", "b"], ["y"]), "n", 13)
    assert most_elements(node, BOXES) == {}
