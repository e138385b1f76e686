"""Resize and Upsample against onnxruntime, in every mode that is a layer."""

from collections.abc import Callable
from itertools import product

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.layers import Opaque, Pooling, Resize
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from tests.thorough import paired

IMAGE = {"x": (2, 3, 7, 10)}
Make = Callable[..., onnx.ModelProto]
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
OPSETS = (11, 13, 19)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
SCALES = ((2.0, 2.0), (1.0, 3.0), (0.5, 0.5), (1.7, 0.7), (4 / 3, 2.5))
SIZES = ((11, 13), (3, 5), (1, 1), (14, 20), (7, 4))


def resized(
    make: Make, target: tuple, opset: int, inputs: int = 3, **attributes
) -> onnx.ModelProto:
    """A model of one Resize by scales (floats) or to sizes (integers)."""
    weights: dict[str, object] = {"none": np.empty(0, np.float32)} if opset in (11, 12) else {}
    none = "none" if opset in (11, 12) else ""  # region and scales were not optional then
    if isinstance(target[0], int):
        weights["s"], names = [2, 3, *target], ["x", none, none, "s"]
    else:
        weights["s"] = np.array([1, 1, *target], np.float32)
        names = ["x", "s"] if inputs == 2 else ["x", none, "s"]
    proto = helper.make_node("Resize", names, ["y"], name="n", **attributes)
    return make([proto], IMAGE, ["y"], weights, opset)


def the_layer(agreement):
    """The only layer that is no permute, read but not optimised."""
    (layer,) = [layer for layer in agreement.read.layers if layer.type != "permute"]
    return layer


@pytest.mark.parametrize(("coordinates", "opset"), paired(COORDINATES, OPSETS, 1))
def test_nearest(coordinates: str, opset: int, onnx_model: Make, agree: Callable) -> None:
    for rounding, target in product(ROUNDINGS, (*SCALES, *SIZES)):
        modes = {"coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
        model = resized(onnx_model, target, opset, mode="nearest", **modes)
        layer = the_layer(agree(model))
        assert isinstance(layer, Resize)
        assert (layer.kind, layer.coordinates, layer.rounding) == ("nearest", coordinates, rounding)


@pytest.mark.parametrize(("coordinates", "opset"), paired(COORDINATES, OPSETS, 1, 1))
def test_linear(coordinates: str, opset: int, onnx_model: Make, agree: Callable) -> None:
    for target in (*SCALES, *SIZES):
        modes = {"mode": "linear", "coordinate_transformation_mode": coordinates}
        layer = the_layer(agree(resized(onnx_model, target, opset, **modes)))
        assert isinstance(layer, Resize)
        assert (layer.kind, layer.size is None) == ("bilinear", isinstance(target[0], float))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [(2.0, 2.0), (1.0, 3.0), (1.7, 2.6)])
def test_older_forms(
    scales: tuple[float, float], mode: str, onnx_model: Make, agree: Callable
) -> None:
    attribute = helper.make_node(
        "Upsample", ["x"], ["y"], name="n", mode=mode, scales=[1.0, 1.0, *scales]
    )
    given = helper.make_node("Upsample", ["x", "s"], ["y"], name="n", mode=mode)
    weights = {"s": np.array([1, 1, *scales], np.float32)}
    for model in (
        onnx_model([attribute], IMAGE, ["y"], opset=7),
        onnx_model([given], IMAGE, ["y"], weights, 9),
        resized(onnx_model, scales, 10, inputs=2, mode=mode),
    ):
        layer = the_layer(agree(model))
        assert isinstance(layer, Resize)
        assert layer.coordinates == "asymmetric"


@pytest.mark.parametrize(
    ("target", "opset", "inputs"),
    [((2.0, 3.0), 10, 2)]
    + [(target, n, 3) for n in (11, 12, 13) for target in ((2.0, 3.0), (9, 14))],
)
def test_written_in_the_opset_that_an_opaque_layer_asks_for(
    target: tuple, opset: int, inputs: int, onnx_model: Make, agree: Callable
) -> None:
    model = resized(onnx_model, target, opset, inputs, mode="linear")
    model.graph.node[0].output[0] = "r"
    model.graph.node.append(helper.make_node("Atan", ["r"], ["y"], name="e"))
    kinds = {type(layer) for layer in agree(model).read.layers}
    assert {Resize, Opaque} <= kinds


def test_axes_may_be_given(onnx_model: Make, agree: Callable) -> None:
    proto = helper.make_node("Resize", ["x", "", "", "s"], ["y"], name="n", axes=[3, 2])
    layer = the_layer(agree(onnx_model([proto], IMAGE, ["y"], {"s": [20, 14]}, 18)))
    assert isinstance(layer, Resize)
    assert layer.size == (14, 20)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_proportions_are_kept(policy: str, mode: str, onnx_model: Make, agree: Callable) -> None:
    for size in ((11, 13), (3, 5), (14, 20), (7, 4), (20, 6)):
        attributes = {"mode": mode, "keep_aspect_ratio_policy": policy, "axes": [2, 3]}
        proto = helper.make_node("Resize", ["x", "", "", "s"], ["y"], name="n", **attributes)
        layer = the_layer(agree(onnx_model([proto], IMAGE, ["y"], {"s": list(size)}, 18)))
        assert isinstance(layer, Resize)
        assert (layer.aspect, layer.size) == (policy, size)


def test_proportions_are_kept_between_transposes(onnx_model: Make, agree: Callable) -> None:
    """Onnxruntime would move the transposes of the pooling past it, and not its axes."""
    attributes = {"keep_aspect_ratio_policy": "not_larger", "axes": [2, 3]}
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], name="p", kernel_shape=[2, 2]),
        helper.make_node("Resize", ["p", "", "", "s"], ["r"], name="n", **attributes),
        helper.make_node("MaxPool", ["r"], ["y"], name="q", kernel_shape=[2, 2]),
    ]
    agree(onnx_model(nodes, IMAGE, ["y"], {"s": [15, 17]}, 18))


@pytest.mark.parametrize("target", [(9, 20), (2.0, 0.5)])
def test_symmetric_half_pixels_of_whole_sizes_are_half_pixels(
    target: tuple, onnx_model: Make, agree: Callable
) -> None:
    shape = {"x": (2, 3, 6, 10)}
    modes = {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}
    proto = resized(onnx_model, target, 19, **modes)
    for dimension, size in zip(
        proto.graph.input[0].type.tensor_type.shape.dim, shape["x"], strict=True
    ):
        dimension.dim_value = size
    assert the_layer(agree(proto)).coordinates == "half_pixel"


@pytest.mark.parametrize(
    "attributes",
    [
        {"mode": "cubic", "antialias": 1, "axes": [2, 3]},
        {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"},
        {"coordinate_transformation_mode": "tf_crop_and_resize"},
    ],
)
def test_an_opaque_one_has_the_size_of_onnxruntime(
    attributes: dict, onnx_model: Make, agree: Callable
) -> None:
    """Ten times 0.7 is 6 in float64 and 7 in float32, on axes and regions too."""
    scales = [1.3, 0.7] if "axes" in attributes else [1, 1, 1.3, 0.7]
    regions = {"r": np.array([0] * 4 + [1] * 4, np.float32)}
    proto = helper.make_node("Resize", ["x", "r", "s"], ["y"], name="n", **attributes)
    if "axes" in attributes:
        proto.input[1] = ""
    weights = {"s": np.array(scales, np.float32), **({} if "axes" in attributes else regions)}
    layer = the_layer(agree(onnx_model([proto], IMAGE, ["y"], weights, 19)))
    assert layer.shapes == ((2, 3, 9, 7),)


@pytest.mark.parametrize(
    ("attributes", "scale", "form"),
    [
        ({"mode": "cubic"}, 2.0, "cubic"),
        ({"mode": "cubic"}, 1.7, "scales"),
        ({"mode": "cubic", "antialias": 1}, 2.0, "antialias"),
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, 2.0, "tf_crop_and_resize"),
    ],
)
def test_forms_that_tables_tell_apart(
    attributes: dict, scale: float, form: str, onnx_model: Make
) -> None:
    proto = helper.make_node("Resize", ["x", "r", "s"], ["y"], name="n", **attributes)
    weights = {
        "s": np.array([1, 1, scale, scale], np.float32),
        "r": np.array([0] * 4 + [1] * 4, np.float32),
    }
    network = read(onnx_model([proto], IMAGE, ["y"], weights, 18))
    (layer,) = (layer for layer in network.layers if isinstance(layer, Opaque))
    assert layer.form == form


@pytest.mark.parametrize("mode", ["nearest", "cubic"])
def test_axes_may_be_counted_from_the_end(mode: str, onnx_model: Make) -> None:
    """Not held against onnxruntime on the file itself, which crashes up to 1.23."""
    results = []
    for axes in ([-1, 2], [3, 2]):
        proto = helper.make_node(
            "Resize", ["x", "", "", "s"], ["y"], name="n", axes=axes, mode=mode
        )
        network = read(onnx_model([proto], IMAGE, ["y"], {"s": [20, 14]}, 18))
        values = np.random.default_rng(3).normal(size=IMAGE["x"]).astype(np.float32)
        (result,) = (
            FloatEngine(network).run({"x": network.tensors["x"].from_source(values)}).values()
        )
        results.append(result)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("target", "opset", "attributes"),
    [
        ((2.0, 2.0), 13, {"mode": "cubic"}),
        ((2.0, 2.0), 13, {"coordinate_transformation_mode": "tf_half_pixel_for_nn"}),
        ((0.5, 0.5), 18, {"mode": "linear", "antialias": 1}),
        ((1.0, 2.0), 13, {"coordinate_transformation_mode": "tf_half_pixel_for_nn"}),
        ((1.7, 0.7), 19, {"coordinate_transformation_mode": "half_pixel_symmetric"}),
        ((0.5, 0.7), 10, {"mode": "nearest"}),
    ],
)
def test_other_forms_are_opaque(
    target: tuple, opset: int, attributes: dict, onnx_model: Make, agree: Callable
) -> None:
    inputs = 2 if opset == 10 else 3
    layer = the_layer(agree(resized(onnx_model, target, opset, inputs, **attributes)))
    assert isinstance(layer, Opaque)


@pytest.mark.parametrize(
    ("names", "given", "attributes"),
    [
        (["x", "", "s"], np.array([2, 3], np.float32), {"axes": [2, 3]}),
        (["x", "", "", "s"], np.array([5], np.int64), {"axes": [3]}),
        (["x", "", "", "s"], np.array([2, 3, 5, 7], np.int64), {}),
    ],
    ids=["scales and axes", "sizes and axes", "all axes"],
)
def test_no_transpose_is_moved_past_opaque_ones(
    names: list[str], given: np.ndarray, attributes: dict, onnx_model: Make, agree: Callable
) -> None:
    """Onnxruntime would: the pooling behind is a layer between transposes."""
    nodes = [
        helper.make_node("Resize", names, ["r"], name="n", mode="cubic", **attributes),
        helper.make_node("MaxPool", ["r"], ["y"], name="p", kernel_shape=[2, 2]),
    ]
    kinds = {
        type(layer)
        for layer in agree(onnx_model(nodes, IMAGE, ["y"], {"s": given}, 18)).read.layers
    }
    assert {Opaque, Pooling} <= kinds


def test_other_axes_are_opaque(onnx_model: Make, agree: Callable) -> None:
    proto = helper.make_node("Resize", ["x", "", "s"], ["y"], name="n")
    weights = {"s": np.array([1, 2, 1, 1], np.float32)}
    assert isinstance(the_layer(agree(onnx_model([proto], IMAGE, ["y"], weights))), Opaque)


@pytest.mark.parametrize("scales", [[], [1, 1, 2, -1]])
def test_no_scales_are_refused(scales: list[float], onnx_model: Make) -> None:
    proto = helper.make_node("Resize", ["x", "", "s"], ["y"], name="n")
    model = onnx_model([proto], IMAGE, ["y"], {"s": np.array(scales, np.float32)})
    with pytest.raises(HexsimError, match=r"node 'n' .* neither sizes nor positive scales"):
        read(model)


def test_scales_of_one_are_no_layer(onnx_model: Make, agree: Callable) -> None:
    for target in ((1.0, 1.0), (7, 10)):
        proto = resized(onnx_model, target, 13, mode="linear")
        proto.graph.node[0].output[0] = "r"
        proto.graph.node.append(helper.make_node("Tanh", ["r"], ["y"], name="t"))
        assert [layer.name for layer in agree(proto).optimized.layers] == ["t"]
