"""BatchNormalization, LRN and Softmax."""

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.layers import BatchNorm, LocalResponseNorm, Softmax
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer


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
        BatchNorm(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(node.output,),
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
        LocalResponseNorm(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(node.output,),
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
    net.add(
        Softmax(name=node.name, inputs=(data.name,), outputs=(node.output,), axes=stored_axes),
        data.order,
    )


TRANSLATORS = {
    "BatchNormalization": batch_normalization,
    "LRN": lrn,
    "Softmax": softmax,
}
