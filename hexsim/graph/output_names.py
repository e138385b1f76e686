"""Finds the tensors that a user names, by the name of a tensor or by that of the layer.

The tools want layers in some places and tensors in others, and ONNX files often call a node and
its output alike. So the other kind is accepted in both places, with a remark; a node that a layer
has taken over stands for the layer. The wanted kind has precedence.
"""

from typing import Literal

from hexsim.errors import unknown
from hexsim.graph.ir import Network
from hexsim.records import dataclass

Kind = Literal["layer", "tensor"]


@dataclass(frozen=True)
class NamedTensors:
    """The tensors behind a name; `remark` says so if the name was of the other kind."""

    tensors: tuple[str, ...]
    remark: str = ""


def tensors_named(network: Network, name: str, kind: Kind) -> NamedTensors:
    """Return the tensors that `name` means where a name of `kind` is wanted.

    Raises HexsimError for a name that is neither of a tensor nor of a layer.
    """
    layers = {layer.name: layer for layer in network.layers}
    if kind == "layer" and name in layers:
        return NamedTensors(layers[name].outputs)
    if name in network.tensors:
        remark = f"'{name}' is a tensor, not a layer; it is taken itself"
        return NamedTensors((name,), "" if kind == "tensor" else remark)
    owners = {node: layer for layer in network.layers for node in layer.fused} | layers
    if name not in owners:
        known = layers if kind == "layer" else network.tensors
        raise unknown(kind, name, known)
    layer = owners[name]
    written = ", ".join(f"'{tensor}'" for tensor in layer.outputs)
    what = "a layer" if name in layers else f"part of layer '{layer.name}'"
    not_wanted = ", not a tensor" if kind == "tensor" and name in layers else ""
    return NamedTensors(
        layer.outputs, f"'{name}' is {what}{not_wanted}; its output {written} is taken"
    )
