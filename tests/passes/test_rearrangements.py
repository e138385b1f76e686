"""Reshapes and transposes are the one layer that does the same, however they are spelled.

Filters full of zeros are dilated ones; what looks alike stays.

Layers without effect disappear; names at the edge of the network stay.

Only what an output depends on stays.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import (
    ChannelShuffle,
    Concat,
    Convolution,
    DepthToSpace,
    Elementwise,
    Neuron,
    Permute,
    Reshape,
    SpaceToDepth,
    StridedSlice,
)
from hexsim.onnx_io.read.reader import read
from hexsim.passes.rearrangements import remove_dead_code, remove_no_ops
from tests.conftest import compare, make_model
from tests.thorough import examples

Make = Callable[..., onnx.ModelProto]
node = helper.make_node


def _model(make: Make, split: list[int], perm: list[int], outputs: list[str]) -> onnx.ModelProto:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Reshape", ["r", "split"], ["a"], name="shuffle"),
        node("Transpose", ["a"], ["b"], perm=perm, name="swap"),
        node("Reshape", ["b", "join"], ["c"], name="join"),
        node("Tanh", ["c"], ["y"]),
    ]
    weights = {"split": split, "join": [2, 12, 3, 5]}
    return make(nodes, {"x": (2, 12, 3, 5)}, outputs, weights)


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("area", [[3, 5], [15], [5, 3]])
def test_a_shuffle(groups: int, area: list[int], onnx_model: Make, agree: Callable) -> None:
    split = [2, groups, 12 // groups, *area]
    perm = [0, 2, 1, *range(3, 3 + len(area))]
    optimized = agree(_model(onnx_model, split, perm, ["y"])).optimized
    shuffle = optimized.producers["c"]
    assert isinstance(shuffle, ChannelShuffle)
    assert (shuffle.groups, shuffle.inputs) == (groups, ("r",))
    assert (shuffle.name, shuffle.fused) == ("shuffle", ("swap", "join"))
    assert len(optimized.layers) == 3


@pytest.mark.parametrize(
    ("split", "perm", "outputs"),
    [
        ([2, 3, 4, 3, 5], [0, 2, 1, 4, 3], ["y"]),  # swaps height and width too
        ([2, 3, 4, 3, 5], [0, 2, 1, 3, 4], ["y", "b"]),  # a tensor inside is an output
    ],
)
def test_what_is_no_shuffle(
    split: list[int], perm: list[int], outputs: list[str], onnx_model: Make, agree: Callable
) -> None:
    optimized = agree(_model(onnx_model, split, perm, outputs)).optimized
    assert not any(isinstance(layer, ChannelShuffle) for layer in optimized.layers)


def test_a_shuffle_that_gathers_its_halves(onnx_model: Make, agree: Callable) -> None:
    """As ShuffleNetV2 is exported: the halves of the shuffled channels, by their index."""
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Reshape", ["r", "split"], ["a"], name="shuffle"),
        node("Transpose", ["a"], ["b"], perm=[1, 0, 2], name="swap"),
        node("Reshape", ["b", "halves"], ["c"], name="halve"),
        node("Gather", ["c", "zero"], ["d"], axis=0, name="left"),
        node("Gather", ["c", "one"], ["e"], axis=0, name="right"),
        node("Tanh", ["d"], ["y"]),
        node("Sigmoid", ["e"], ["z"]),
    ]
    weights = {
        "split": [6, 2, 20], "halves": [2, -1, 6, 4, 5], "zero": np.array(0), "one": np.array(1),
    }  # fmt: skip
    model = onnx_model(nodes, {"x": (1, 12, 4, 5)}, ["y", "z"], weights)
    layers = agree(model).optimized.layers
    kinds = [type(layer) for layer in layers[1:4]]
    assert kinds == [ChannelShuffle, StridedSlice, StridedSlice]
    assert len(layers) == 6
    assert [(p.start, p.stop) for layer in layers[2:4] for p in layer.parts] == [(0, 6), (6, 12)]


PIXELS = {
    "pixel shuffle": ([1, 3, 2, 2, 4, 5], [0, 1, 4, 2, 5, 3], [1, 3, 8, 10], DepthToSpace, "CRD"),
    "depth to space": ([1, 2, 2, 3, 4, 5], [0, 3, 4, 1, 5, 2], [1, 3, 8, 10], DepthToSpace, "DCR"),
    "space to depth": ([1, 12, 2, 2, 5, 1], [0, 3, 5, 1, 2, 4], [1, 24, 2, 5], SpaceToDepth, ""),
}


@pytest.mark.parametrize("case", ["pixel shuffle", "depth to space"])
@pytest.mark.parametrize("convolutions", [False, True])
def test_pixels_of_channels(
    case: str, convolutions: bool, onnx_model: Make, agree: Callable
) -> None:
    split, perm, joined, kind, mode = PIXELS[case]
    nodes = [
        node("Conv" if convolutions else "Relu", ["x", "w"][: 1 + convolutions], ["r"]),
        node("Reshape", ["r", "split"], ["a"], name="split"),
        node("Transpose", ["a"], ["b"], perm=perm),
        node("Reshape", ["b", "joined"], ["c"]),
        node("Conv", ["c", "v"], ["y"]),
    ]
    weights = {
        "split": split, "joined": joined, "w": np.eye(12)[:, :, None, None],
        "v": np.eye(3)[:, :, None, None],
    }  # fmt: skip
    optimized = agree(onnx_model(nodes, {"x": (1, 12, 4, 5)}, ["y"], weights)).optimized
    layer = optimized.layers[1]
    assert isinstance(layer, kind)
    assert (layer.block, layer.mode) == (2, mode)
    assert len(optimized.layers) == 3


def test_channels_of_pixels(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["r"]),
        node("Reshape", ["r", "split"], ["a"]),
        node("Transpose", ["a"], ["b"], perm=[0, 3, 5, 1, 2, 4]),
        node("Reshape", ["b", "joined"], ["c"]),
        node("Conv", ["c", "v"], ["y"]),
    ]
    weights = {
        "split": [1, 3, 2, 2, 5, 2], "joined": [1, 12, 2, 5], "w": np.eye(3)[:, :, None, None],
        "v": np.eye(12)[:, :, None, None],
    }  # fmt: skip
    optimized = agree(onnx_model(nodes, {"x": (1, 3, 4, 10)}, ["y"], weights)).optimized
    assert isinstance(optimized.layers[1], SpaceToDepth)
    assert len(optimized.layers) == 3


def test_more_axes_than_an_accelerator_takes_become_fewer(
    onnx_model: Make, agree: Callable
) -> None:
    nodes = [
        node("Reshape", ["x", "six"], ["a"], name="first"),
        node("Transpose", ["a"], ["b"], perm=[0, 4, 2, 3, 5, 1]),
        node("Reshape", ["b", "flat"], ["y"]),
    ]
    weights = {"six": [1, 2, 3, 2, 3, 5], "flat": [6, 30]}
    layers = agree(onnx_model(nodes, {"x": (6, 30)}, ["y"], weights)).optimized.layers
    assert [type(layer) for layer in layers] == [Reshape, Permute, Reshape]
    assert layers[1].name == "first"
    assert len(layers[1].permutation) == 4


@given(st.data())
@examples(200)
def test_any_chain_moves_elements_as_before(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(1, 12, 4, 6), (2, 8, 3), (1, 36, 2, 2), (24,)]))
    nodes, weights, last, now = [], {}, "x", shape
    for number in range(data.draw(st.integers(1, 5))):
        out = f"t{number}"
        if data.draw(st.booleans()):
            now = data.draw(st.permutations(_split(data, math.prod(now))))
            weights[f"s{number}"] = list(now)
            nodes.append(node("Reshape", [last, f"s{number}"], [out]))
        else:
            perm = data.draw(st.permutations(range(len(now))))
            now = [now[axis] for axis in perm]
            nodes.append(node("Transpose", [last], [out], perm=perm))
        last = out
    outputs = [last, *(["t0"] if len(nodes) > 2 and data.draw(st.booleans()) else [])]
    comparison = compare(make_model(nodes, {"x": shape}, outputs, weights))
    assert comparison.error_optimized == 0


def _split(data: st.DataObject, size: int) -> list[int]:
    """A shape of `size` elements."""
    shape = []
    while size > 1 and len(shape) < 5:
        part = data.draw(st.sampled_from([n for n in range(2, size + 1) if size % n == 0]))
        shape.append(part)
        size //= part
    return [*shape, size] if size > 1 or not shape else shape


@pytest.mark.parametrize(
    ("split", "permutation", "axes"),
    [
        ((1, 2, 4, 3, 2, 5), (0, 1, 3, 2, 4, 5), 4),  # windows of an image
        ((2, 3, 2, 2, 4, 5), (0, 1, 4, 2, 5, 3), 5),  # pixel shuffle
        ((2, 2, 2, 1, 6, 5, 1), (0, 3, 1, 2, 4, 6, 5), 1),  # nothing moves
    ],
)
def test_six_axes_between_reshapes_are_gone(
    split: tuple[int, ...],
    permutation: tuple[int, ...],
    axes: int,
    onnx_model: Callable[..., onnx.ModelProto],
    agree: Callable[..., object],
) -> None:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Reshape", ["r", "split"], ["a"]),
        node("Transpose", ["a"], ["b"], perm=permutation),
        node("Reshape", ["b", "flat"], ["c"]),
        node("Relu", ["c"], ["y"]),
    ]
    size = int(np.prod(split))
    weights = {"split": np.array(split), "flat": np.array([2, size // 2])}
    network = agree(onnx_model(nodes, {"x": (size,)}, ["y"], weights, 13)).optimized  # type: ignore[attr-defined]
    assert max(len(tensor.shape) for tensor in network.tensors.values()) <= max(axes, 2)
    permutes = [layer for layer in network.layers if isinstance(layer, Permute)]
    assert [len(layer.permutation) for layer in permutes] == [axes] * (axes > 1)


def test_what_others_read_keeps_its_axes(
    onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    nodes = [
        node("Transpose", ["x"], ["b"], perm=(0, 1, 3, 2, 4, 5)),
        node("Reshape", ["b", "flat"], ["y"]),
    ]
    model = onnx_model(nodes, {"x": (1, 2, 4, 3, 2, 5)}, ["b", "y"], {"flat": [-1]}, 13)
    network = agree(model).optimized  # type: ignore[attr-defined]
    assert network.shape("b") == (1, 2, 3, 4, 2, 5)
    assert sum(isinstance(layer, Reshape) for layer in network.layers) == 3


rng = np.random.default_rng(8)


def spread(taps: tuple[int, int], apart: tuple[int, int], channels: int = 4) -> np.ndarray:
    """Filters of `taps` taps with zeros between them."""
    sizes = [(n - 1) * step + 1 for n, step in zip(taps, apart, strict=True)]
    weight = np.zeros((channels, 1, *sizes))
    weight[:, :, :: apart[0], :: apart[1]] = rng.standard_normal((channels, 1, *taps))
    return weight


def convolution(weight: np.ndarray, groups: int = 4) -> onnx.NodeProto:
    height, width = weight.shape[2:]
    pads = [height // 2, width // 2, height // 2, width // 2]
    return helper.make_node("Conv", ["x", "w"], ["y"], pads=pads, group=groups)


@pytest.mark.parametrize(
    ("taps", "apart"), [((3, 3), (2, 2)), ((3, 3), (4, 4)), ((3, 5), (2, 1)), ((1, 3), (1, 3))]
)
def test_zeros_between_taps_are_a_dilation(
    taps: tuple[int, int], apart: tuple[int, int], onnx_model: Make, agree: Callable
) -> None:
    weight = spread(taps, apart)
    model = onnx_model([convolution(weight)], {"x": (1, 4, 13, 12)}, ["y"], {"w": weight})
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Convolution)
    assert (layer.window.kernel, layer.window.dilations) == (taps, apart)


def _off_the_grid() -> np.ndarray:
    weight = spread((3, 3), (2, 2))
    weight[3, 0, 1, 0] = 0.5
    return weight


def _zero_at_the_border() -> np.ndarray:
    weight = spread((3, 3), (2, 2))
    weight[:, :, -1] = 0
    return weight


@pytest.mark.parametrize(
    ("weight", "groups"),
    [
        (_off_the_grid(), 4),
        (_zero_at_the_border(), 4),
        (np.zeros((4, 1, 5, 5)), 4),
        (np.repeat(spread((3, 3), (2, 2)), 2, axis=1), 2),
    ],
    ids=["a tap between", "fewer rows", "all zero", "grouped"],
)
def test_other_filters_stay(
    weight: np.ndarray, groups: int, onnx_model: Make, agree: Callable
) -> None:
    model = onnx_model([convolution(weight, groups)], {"x": (1, 4, 13, 12)}, ["y"], {"w": weight})
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Convolution)
    assert layer.window.kernel == (5, 5) or layer.window.dilations[1] == 2


IMAGE = {"x": (1, 3, 4, 5)}


def test_dropout_identity_and_unlimited_clips_go(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Dropout", ["a"], ["b"]),
        node("Identity", ["b"], ["c"]),
        node("Clip", ["c"], ["d"]),
        node("Concat", ["d"], ["e"], axis=1),
        node("Sigmoid", ["e"], ["y"]),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], opset=11)).optimized
    assert [layer.name for layer in optimized.layers] == ["a", "y"]
    assert optimized.layers[1].inputs == ("a",)


def test_at_an_output_the_layer_before_takes_the_name(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"], name="r"),
        node("Identity", ["a"], ["early"]),
        node("Identity", ["a"], ["y"]),
        node("Tanh", ["early"], ["z"]),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["z", "y"])).optimized
    assert [(layer.name, layer.inputs, layer.outputs) for layer in optimized.layers] == [
        ("r", ("x",), ("y",)),
        ("z", ("y",), ("z",)),
    ]


def test_a_no_op_between_input_and_output_stays(onnx_model: Make, agree: Callable) -> None:
    optimized = agree(onnx_model([node("Identity", ["x"], ["y"])], IMAGE, ["y"])).optimized
    assert [type(layer) for layer in optimized.layers] == [Reshape]


def test_a_no_op_between_two_outputs_stays(onnx_model: Make, agree: Callable) -> None:
    nodes = [node("Relu", ["x"], ["a"]), node("Identity", ["a"], ["y"])]
    optimized = agree(onnx_model(nodes, IMAGE, ["a", "y"])).optimized
    assert [type(layer) for layer in optimized.layers] == [Neuron, Reshape]


def test_permutes_that_undo_each_other_go(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Transpose", ["a"], ["b"], perm=[0, 3, 2, 1]),
        node("Transpose", ["b"], ["c"], perm=[0, 3, 2, 1]),
        node("Transpose", ["b"], ["d"], perm=[2, 0, 1, 3]),
        node("Tanh", ["c"], ["y"]),
        node("Tanh", ["d"], ["z"]),
    ]
    agreement = agree(onnx_model(nodes, IMAGE, ["y", "z"]))
    once = remove_no_ops(agreement.read)
    once.check()
    permutes = [layer for layer in agreement.optimized.layers if isinstance(layer, Permute)]
    assert [layer.inputs for layer in permutes] == [("a",)]


def test_the_network_is_left_alone_without_no_ops(onnx_model: Make) -> None:
    network = read(onnx_model([node("Relu", ["x"], ["y"])], IMAGE, ["y"]))
    assert remove_no_ops(network).layers == network.layers


def test_a_concat_leaves_out_what_has_no_elements(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Slice", ["a", "zero", "zero"], ["none"]),
        node("Concat", ["none", "a", "e", "a"], ["b"], axis=0),
        node("Concat", ["a", "e"], ["c"], axis=0),
        node("Concat", ["b", "c"], ["y"], axis=0),
    ]
    arrays = {"zero": np.array([0]), "e": np.zeros((0, 3, 4, 5), np.float32)}
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], arrays)).optimized
    assert [(type(layer), layer.inputs) for layer in optimized.layers] == [
        (Neuron, ("x",)),
        (Concat, ("a", "a")),
        (Concat, ("b", "a")),
    ]


@pytest.mark.parametrize(
    ("operator", "bounds"),
    [
        ("Max", {"c": -np.inf}),
        ("Min", {"c": np.inf}),
        ("Max", {"c": np.full((3, 1, 1), -np.inf)}),
        ("Min", {"c": np.inf, "d": np.full((1, 3, 4, 5), np.inf)}),
    ],
)
def test_bounds_beyond_all_numbers_go(
    operator: str, bounds: dict[str, npt.ArrayLike], onnx_model: Make, agree: Callable
) -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node(operator, ["a", *bounds], ["b"]),
        node("Sigmoid", ["b"], ["y"]),
    ]
    optimized = agree(onnx_model(nodes, IMAGE, ["y"], bounds)).optimized
    assert [layer.name for layer in optimized.layers] == ["a", "y"]


def test_of_several_operands_the_infinite_ones_go(onnx_model: Make, agree: Callable) -> None:
    inputs = {**IMAGE, "u": (1, 3, 4, 5)}
    nodes = [node("Max", ["x", "c", "u"], ["y"])]
    optimized = agree(onnx_model(nodes, inputs, ["y"], {"c": -np.inf})).optimized
    assert [layer.inputs for layer in optimized.layers] == [("x", "u")]


@pytest.mark.parametrize(
    ("operator", "bound"),
    [
        ("Max", np.inf),
        ("Min", -np.inf),
        ("Max", np.array([-np.inf, 0, 1, -np.inf, 0])),
        ("Max", np.full((2, 1, 3, 4, 5), -np.inf)),
    ],
)
def test_bounds_that_change_something_stay(
    operator: str, bound: npt.ArrayLike, onnx_model: Make
) -> None:
    network = read(onnx_model([node(operator, ["x", "c"], ["y"])], IMAGE, ["y"], {"c": bound}))
    assert [type(layer) for layer in remove_no_ops(network).layers][-1] is Elementwise


def test_layers_that_nobody_reads_go() -> None:
    edges = {"a": ("x", "a"), "dead": ("a", "b"), "deader": ("b", "c"), "y": ("a", "y")}
    layers = tuple(
        Neuron(name=name, inputs=(source,), outputs=(target,), function="tanh")
        for name, (source, target) in edges.items()
    )
    tensors = {name: Tensor(name, (1, 2)) for name in ("x", "a", "b", "c", "y", "unread")}
    network = remove_dead_code(Network("n", layers, tensors, {}, ("x", "unread"), ("y",)))
    network.check()
    assert [layer.name for layer in network.layers] == ["a", "y"]
    assert set(network.tensors) == {"x", "unread", "a", "y"}
