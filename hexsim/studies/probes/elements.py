"""Layers that compute element by element, or along the channels."""

from hexsim.graph.ir import Shape
from hexsim.layers import (
    ArgExtremum,
    BatchNorm,
    Convert,
    Elementwise,
    Neuron,
    Normalization,
    Prelu,
    Reduce,
    Softmax,
)
from hexsim.layers.elementwise import ElementwiseKind, NeuronFunction
from hexsim.studies.probes._kind import IMAGE, KernelKind, Kinds, Sizes, plain, unary


def _pairs(kind: ElementwiseKind) -> KernelKind:
    layer = Elementwise(name=kind, inputs=("a", "b"), outputs=("out",), kind=kind)
    return KernelKind(IMAGE, "56x56x64", lambda sizes: layer, inputs=2)


def _function(name: str, function: NeuronFunction) -> KernelKind:
    return plain(unary(Neuron, name, function=function))


def _softmax(sizes: Sizes) -> Softmax:
    last = 3 if "h" in sizes else 1
    return unary(Softmax, "softmax", axes=(last,))


def _per_channel(sizes: Sizes) -> tuple[Shape, ...]:
    return ((sizes["c"],),)


KINDS: Kinds = {
    "add": _pairs("sum"),
    "multiply": _pairs("product"),
    "divide": _pairs("div"),
    "relu": _function("relu", "clamp"),
    "sigmoid": _function("sigmoid", "sigmoid"),
    "prelu": plain(unary(Prelu, "prelu", slope="slope"), _per_channel),
    "batch_norm": plain(
        unary(BatchNorm, "norm", scale="scale", shift="shift"),
        lambda sizes: 2 * _per_channel(sizes),
    ),
    "reduce_mean": plain(unary(Reduce, "mean", kind="mean", axes=(3,))),
    "reduce_max": plain(unary(Reduce, "max", kind="max", axes=(1,))),
    "argmax": plain(unary(ArgExtremum, "argmax", kind="max", axis=3)),
    "softmax": KernelKind(r"((?P<h>\d+)x(?P<w>\d+)x)?(?P<c>\d+)", "1000 or 64x64x21", _softmax),
    "layer_norm": plain(
        unary(
            Normalization,
            "norm",
            kind="deviation",
            axes=(3,),
            epsilon=1e-5,
            scale="scale",
            shift="shift",
        ),
        lambda sizes: 2 * _per_channel(sizes),
    ),
    "instance_norm": plain(
        unary(Normalization, "norm", kind="deviation", axes=(1, 2), epsilon=1e-5)
    ),
    "narrow": KernelKind(
        IMAGE, "56x56x64", lambda sizes: unary(Convert, "narrow"), operand_bits=16
    ),
}
