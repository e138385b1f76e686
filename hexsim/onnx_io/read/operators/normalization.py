"""Normalisations: batch norm, LRN, softmax; of layers, instances, groups; by RMS and L2 norm."""

import math
from collections.abc import Sequence

import numpy as np
import onnx

from hexsim import layers
from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Tensor
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.layers.normalization import NormalizationKind
from hexsim.onnx_io.file.axis_order import channels_last, identity
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators.elementwise import sum_of_squares


def batch_normalization(node: OnnxNode, net: Importer) -> None:
    """BatchNormalization becomes a scale and shift per channel, computed in float64.

    Over the training data, its output has the mean beta and the standard deviation |gamma|.
    """
    data = net.tensor(node.input(0))
    gamma, beta, mean, variance = (net.array(name) for name in node.inputs[1:5])
    if any(net.facts.uses[name] for name in node.outputs[1:]) or node.integer("training_mode", 0):
        raise NotALayerError("training")
    channels = data.source_shape[1:2]
    if node.integer("spatial", 1) == 0 or not channels:
        raise NotALayerError("not per channel")
    if any(array.shape != channels for array in (gamma, beta, mean, variance)):
        raise InvalidDataError(
            f"its parameters must have the shape {list(channels)} of the channels"
        )
    epsilon = node.real("epsilon", 1e-5)

    def scale() -> Array:
        return gamma.read().astype(np.float64) / np.sqrt(variance.read() + np.float64(epsilon))

    def shift() -> Array:
        moved: Array = beta.read() - mean.read() * scale()
        return moved

    def moments() -> Array:
        return np.stack([beta.read(), np.abs(gamma.read())])

    form = f"of {node.inputs[1:5]} {epsilon}"
    net.add(
        layers.BatchNorm(
            *node.ends(net.channels_last(data.name)),
            scale=net.new_constant(gamma.name, f"scale {form}", channels, scale, gamma.dtype),
            shift=net.new_constant(beta.name, f"shift {form}", channels, shift, beta.dtype),
            moments=net.new_constant(
                f"{node.name}.moments", form, (2, *channels), moments, beta.dtype
            ),
        ),
        channels_last(len(data.shape)),
    )


def lrn(node: OnnxNode, net: Importer) -> None:
    """LRN of an image becomes LocalResponseNorm."""
    data = net.tensor(node.input(0), rank=4)
    net.add(
        layers.LocalResponseNorm(
            *node.ends(net.channels_last(data.name)),
            size=node.integer("size", 1),
            alpha=node.real("alpha", 1e-4),
            beta=node.real("beta", 0.75),
            bias=node.real("bias", 1.0),
        ),
        channels_last(4),
    )


def softmax(node: OnnxNode, net: Importer) -> None:
    """Softmax along one axis; before opset 13 along all axes from `axis` on."""
    data = net.tensor(node.input(0))
    rank = len(data.shape)
    axis = positive_axis(node.integer("axis", 1 if node.opset < 13 else -1), rank)
    axes = range(axis, rank) if node.opset < 13 else [axis]
    stored_axes = tuple(sorted(data.order.index(axis) for axis in axes))
    net.add(layers.Softmax(*node.ends(data.name), axes=stored_axes), data.order)


def layer_normalization(node: OnnxNode, net: Importer) -> None:
    """Translate LayerNormalization: over all axes from `axis` on."""
    _from_axis_on(node, net, "deviation")


def rms_normalization(node: OnnxNode, net: Importer) -> None:
    """Translate RMSNormalization: the same without the mean."""
    _from_axis_on(node, net, "mean_square")


def lp_normalization(node: OnnxNode, net: Importer) -> None:
    """Translate LpNormalization with p = 2: by the L2 norm along one axis."""
    data = net.tensor(node.input(0))
    if node.integer("p", 2) != 2:
        raise NotALayerError("p is not 2")
    axis = positive_axis(node.integer("axis", -1), len(data.shape))
    _normalize(node, net, data, "length", [axis], 0.0)


def length(node: OnnxNode, net: Importer) -> None:
    """Translate ReduceL2: the root of the sum of squares."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    square = proto.output[0] = net.unique(f"{node.output}.square")
    sum_of_squares(OnnxNode(proto, net.unique(f"{node.name}.squares"), node.opset), net)
    root = layers.Neuron(*node.ends(square), function="sqrt")
    net.add(root, net.order(square))


def instance_normalization(node: OnnxNode, net: Importer) -> None:
    """Translate InstanceNormalization: over every channel of every batch item, channels last.

    If a reshape turned groups of channels into channels, the original tensor is normalised.
    """
    data = net.tensor(node.input(0))
    rank, channels = len(data.shape), data.source_shape[1:2]
    if any(net.source_shape(name) != channels for name in node.inputs[1:3]):
        raise InvalidDataError(
            f"its parameters must have the shape {list(channels)} of the channels"
        )
    ungrouped = _in_channels(data, net)
    if ungrouped is not None and all(name in net.known for name in node.inputs[1:3]):
        scale, shift = (net.array(name) for name in node.inputs[1:3])
        result = net.unique(f"{node.name}.whole")
        _normalize_groups(node, net, ungrouped, channels[0], (scale, shift), result)
        net.reshape(net.unique(f"{node.name}.as_groups"), result, data.source_shape, node.output)
        return
    affine = tuple(_with_axes(net, name, rank - 2) for name in node.inputs[1:3])
    axes = range(2, rank)
    data = net.tensors[net.channels_last(data.name)]
    epsilon = node.real("epsilon", 1e-5)
    _normalize(node, net, data, "deviation", axes, epsilon, (affine[0], affine[1]))


def _in_channels(data: Tensor, net: Importer) -> Tensor | None:
    """Return the channels-last tensor whose groups of channels were reshaped to `data`, or None."""
    if len(data.shape) != 3:
        return None
    batch, groups, _ = data.source_shape
    for name in net.reshaped_from(data.name)[:-1]:
        earlier = net.tensors[name]
        rank = len(earlier.shape)
        if (
            rank > 2
            and earlier.order == channels_last(rank)
            and earlier.source_shape[0] == batch
            and groups
            and earlier.source_shape[1] % groups == 0
        ):
            return earlier
    return None


def mean_variance_normalization(node: OnnxNode, net: Importer) -> None:
    """Translate MeanVarianceNormalization, which adds 1e-9 to the deviation."""
    data = net.tensor(node.input(0))
    axes = node.integers("axes") or (0, 2, 3)
    rank = len(data.shape)
    _normalize(node, net, data, "deviation", [positive_axis(axis, rank) for axis in axes], 1e-18)


def group_normalization(node: OnnxNode, net: Importer) -> None:
    """Translate GroupNormalization: the channels are reshaped to groups and normalised."""
    data = net.tensor(node.input(0))
    if len(data.shape) < 2:
        raise InvalidDataError(f"its input of {len(data.shape)} axes has no channels")
    groups, channels = node.integer("num_groups", 1), data.source_shape[1]
    if groups < 1 or channels % groups:
        raise InvalidDataError(f"{groups} groups do not divide {channels} channels")
    scale, shift = (net.array(name) for name in node.inputs[1:3])
    if any(known.shape != (channels,) for known in (scale, shift)):
        raise InvalidDataError(f"its parameters are not those of {channels} channels")
    _normalize_groups(node, net, data, groups, (scale, shift), node.output)


def _normalize_groups(
    node: OnnxNode,
    net: Importer,
    data: Tensor,
    groups: int,
    affine: tuple[Known, Known],
    output: str,
) -> None:
    """Normalise groups of channels; scale and shift are per group or per channel."""
    batch, channels, *size = data.source_shape
    in_groups = (batch, math.prod(size), groups, channels // groups)
    label, source = f"{node.name}.groups", [net.channels_last(data.name)]
    split = net.put(layers.Reshape, label, source, identity(4), shape=in_groups)
    result = net.unique(f"{node.name}.result")

    def by_group(known: Known) -> str:
        shape = (groups, math.prod(known.shape) // groups)
        return net.constant(known.name, "groups", shape, lambda array: array.reshape(shape))

    net.add(
        layers.Normalization(
            node.name,
            (split,),
            (result,),
            kind="deviation",
            axes=(1, 3),
            epsilon=node.real("epsilon", 1e-5),
            scale=by_group(affine[0]),
            shift=by_group(affine[1]),
        ),
        identity(4),
    )
    shape, order = (batch, *size, channels), channels_last(len(data.shape))
    net.put(layers.Reshape, f"{node.name}.channels", [result], order, output, shape=shape)


def _from_axis_on(node: OnnxNode, net: Importer, kind: NormalizationKind) -> None:
    data = net.tensor(node.input(0))
    rank = len(data.shape)
    if any(net.facts.uses[name] for name in node.outputs[1:]):
        raise NotALayerError("the statistics are used")
    axes = range(positive_axis(node.integer("axis", -1), rank), rank)
    affine = (node.input(1), node.input(2))
    _normalize(node, net, data, kind, axes, node.real("epsilon", 1e-5), affine)


def _normalize(
    node: OnnxNode,
    net: Importer,
    data: Tensor,
    kind: NormalizationKind,
    axes: Sequence[int],
    epsilon: float,
    affine: tuple[str, str] = ("", ""),
) -> None:
    """Add the layer along source `axes`; computed scale and shift are separate layers after it."""
    if data.dtype != "float32":
        raise NotALayerError("not float32")
    names = dict(zip(("scale", "shift"), affine, strict=True))
    constant = {
        role: net.operand(name, data.order) for role, name in names.items() if name in net.known
    }
    computed: list[tuple[ElementwiseKind, str]] = []
    if names["scale"] in net.tensors:
        computed.append(("product", names["scale"]))
    if computed or names["shift"] in net.tensors:
        if names["shift"]:
            computed.append(("sum", names["shift"]))
        constant.pop("shift", None)
    output = net.unique(f"{node.name}.normal") if computed else node.output
    layer = layers.Normalization(
        node.name,
        (data.name,),
        (output,),
        kind=kind,
        axes=tuple(sorted(data.order.index(axis) for axis in axes)),
        epsilon=epsilon,
        scale=constant.get("scale"),
        shift=constant.get("shift"),
    )
    net.add(layer, data.order)
    for role, name in computed:
        result = node.output if role == computed[-1][0] else net.unique(f"{node.name}.scaled")
        label, inputs = f"{node.name}.{role}", (output, net.operand(name, data.order))
        output = net.put(layers.Elementwise, label, inputs, data.order, result, kind=role)


def _with_axes(net: Importer, name: str, count: int) -> str:
    """Name an array or tensor with `count` axes of size one appended."""
    shape = (*net.source_shape(name), *(1,) * count)
    label = f"{name}.{count + 2}d"
    if name in net.known:
        return net.rearranged(name, label, shape, lambda array: array.reshape(shape))
    return net.shaped(name, label, shape)


TRANSLATORS = {
    "BatchNormalization": batch_normalization,
    "LRN": lrn,
    "Softmax": softmax,
    "GroupNormalization": group_normalization,
    "InstanceNormalization": instance_normalization,
    "LayerNormalization": layer_normalization,
    "LpNormalization": lp_normalization,
    "MeanVarianceNormalization": mean_variance_normalization,
    "ReduceL2": length,
    "RMSNormalization": rms_normalization,
}
