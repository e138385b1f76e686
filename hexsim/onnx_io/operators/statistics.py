"""Normalisations of layers, instances and groups, by root mean squares and by lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx

from hexsim.graph.ir import Tensor
from hexsim.layers import Elementwise, Neuron, Normalization, Reshape
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.layers.normalization import NormalizationKind
from hexsim.onnx_io.axis_order import channels_last, identity
from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.known import Known
from hexsim.onnx_io.node import Node, NotALayerError, positive_axis
from hexsim.onnx_io.operators.reduce import sum_of_squares


def layer_normalization(node: Node, net: Importer) -> None:
    """LayerNormalization: all axes from `axis` on."""
    _from_axis_on(node, net, "deviation")


def rms_normalization(node: Node, net: Importer) -> None:
    """RMSNormalization: the same without the mean."""
    _from_axis_on(node, net, "mean_square")


def lp_normalization(node: Node, net: Importer) -> None:
    """LpNormalization with p = 2: over the length along one axis."""
    data = net.tensor(node.input(0))
    if node.integer("p", 2) != 2:
        raise NotALayerError("p is not 2")
    axis = positive_axis(node.integer("axis", -1), len(data.shape))
    _normalize(node, net, data, "length", [axis], 0.0)


def length(node: Node, net: Importer) -> None:
    """ReduceL2: the root of the sum of squares."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    square = proto.output[0] = net.unique(f"{node.output}.square")
    sum_of_squares(Node(proto, net.unique(f"{node.name}.squares"), node.opset), net)
    root = Neuron(name=node.name, inputs=(square,), outputs=(node.output,), function="sqrt")
    net.add(root, net.order(square))


def instance_normalization(node: Node, net: Importer) -> None:
    """InstanceNormalization: every channel of every item by itself."""
    data = net.tensor(node.input(0))
    rank, channels = len(data.shape), data.source_shape[1:2]
    scale, shift = (_by_channel(net, name, channels, rank) for name in node.inputs[1:3])
    axes = range(2, rank)
    _normalize(node, net, data, "deviation", axes, node.real("epsilon", 1e-5), (scale, shift))


def mean_variance_normalization(node: Node, net: Importer) -> None:
    """MeanVarianceNormalization, whose deviation grows by 1e-9; its square is below a float's."""
    data = net.tensor(node.input(0))
    axes = node.integers("axes") or (0, 2, 3)
    rank = len(data.shape)
    _normalize(node, net, data, "deviation", [positive_axis(axis, rank) for axis in axes], 1e-18)


def group_normalization(node: Node, net: Importer) -> None:
    """GroupNormalization: the channels become groups of channels, which are normalised."""
    data = net.tensor(node.input(0))
    groups = node.integer("num_groups", 1)
    batch, channels, *size = data.source_shape
    if channels % groups:
        raise ValueError(f"{groups} groups do not divide {channels} channels")
    scale, shift = (net.array(name) for name in node.inputs[1:3])
    if any(math.prod(known.shape) != channels for known in (scale, shift)):
        raise ValueError(f"its parameters are not those of {channels} channels")
    in_groups = (batch, math.prod(size), groups, channels // groups)
    split = net.unique(f"{node.name}.groups")
    source = net.channels_last(data.name)
    net.add(Reshape(name=split, inputs=(source,), outputs=(split,), shape=in_groups), identity(4))
    result = net.unique(f"{node.name}.result")
    by_group = in_groups[2:]
    net.add(
        Normalization(
            name=node.name,
            inputs=(split,),
            outputs=(result,),
            kind="deviation",
            axes=(1, 3),
            epsilon=node.real("epsilon", 1e-5),
            scale=net.constant(
                scale.name, "groups", by_group, lambda array: array.reshape(by_group)
            ),
            shift=net.constant(
                shift.name, "groups", by_group, lambda array: array.reshape(by_group)
            ),
        ),
        identity(4),
    )
    joined = Reshape(
        name=net.unique(f"{node.name}.channels"),
        inputs=(result,),
        outputs=(node.output,),
        shape=(batch, *size, channels),
    )
    net.add(joined, channels_last(len(data.shape)))


def _from_axis_on(node: Node, net: Importer, kind: NormalizationKind) -> None:
    data = net.tensor(node.input(0))
    rank = len(data.shape)
    if any(net.uses[name] for name in node.outputs[1:]):
        raise NotALayerError("the statistics are used")
    axes = range(positive_axis(node.integer("axis", -1), rank), rank)
    affine = (node.input(1), node.input(2))
    _normalize(node, net, data, kind, axes, node.real("epsilon", 1e-5), affine)


def _normalize(
    node: Node,
    net: Importer,
    data: Tensor,
    kind: NormalizationKind,
    axes: Sequence[int],
    epsilon: float,
    affine: tuple[str, str] = ("", ""),
) -> None:
    """Add the layer along source `axes`; scale and shift that are computed are layers behind it."""
    if data.dtype != "float32":
        raise NotALayerError("not float32")
    names = dict(zip(("scale", "shift"), affine, strict=True))
    constant = {
        what: net.operand(name, data.order) for what, name in names.items() if name in net.known
    }
    computed: list[tuple[ElementwiseKind, str]] = []
    if names["scale"] in net.tensors:
        computed.append(("product", names["scale"]))
    if computed or names["shift"] in net.tensors:
        if names["shift"]:
            computed.append(("sum", names["shift"]))
        constant.pop("shift", None)
    output = net.unique(f"{node.name}.normal") if computed else node.output
    layer = Normalization(
        name=node.name,
        inputs=(data.name,),
        outputs=(output,),
        kind=kind,
        axes=tuple(sorted(data.order.index(axis) for axis in axes)),
        epsilon=epsilon,
        scale=constant.get("scale"),
        shift=constant.get("shift"),
    )
    net.add(layer, data.order)
    for what, name in computed:
        result = node.output if what == computed[-1][0] else net.unique(f"{node.name}.scaled")
        inputs = (output, net.operand(name, data.order))
        label = net.unique(f"{node.name}.{what}")
        net.add(Elementwise(name=label, inputs=inputs, outputs=(result,), kind=what), data.order)
        output = result


def _by_channel(net: Importer, name: str, channels: tuple[int, ...], rank: int) -> str:
    """Name a known array that has a number for each channel, with axes behind it."""
    known = net.array(name)
    if known.shape != channels:
        raise ValueError(f"its parameters must have the shape {list(channels)} of the channels")
    shape = (*channels, *(1,) * (rank - 2))
    label = net.unique(f"{name}.{rank}d")
    net.known[label] = Known(label, shape, known.dtype, lambda: known.read().reshape(shape))
    return label


TRANSLATORS = {
    "GroupNormalization": group_normalization,
    "InstanceNormalization": instance_normalization,
    "LayerNormalization": layer_normalization,
    "LpNormalization": lp_normalization,
    "MeanVarianceNormalization": mean_variance_normalization,
    "ReduceL2": length,
    "RMSNormalization": rms_normalization,
}
