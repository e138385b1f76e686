"""Checks that the parts of a network are consistent, so that other code can rely on it.

1. Names are unique and not empty: inputs and outputs are tensors, no tensor is a constant.
2. Every input of a layer is written before it is read, by exactly one layer.
3. Attributes are in their domains (hexsim.graph.domains), and fit the axes of the operands.
4. Outputs and constants of a layer have the shapes that its rules give for its inputs.

Left out: the values of arrays, and the output shapes of opaque nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hexsim.errors import InvalidDataError
from hexsim.graph import domains

if TYPE_CHECKING:
    from hexsim.graph.ir import Layer, Network, Shape


def check(network: Network) -> None:
    """Raise InvalidDataError, naming layer or tensor, for the first violation."""
    for tensor in network.tensors.values():
        with located(f"tensor '{tensor.name}'"):
            domains.require(tensor)
    _check_ends(network)
    written = set(network.inputs)
    names: set[str] = set()
    for layer in network.layers:
        with located(f"layer '{layer.name}' ({type(layer).__name__})"):
            if layer.name in names:
                raise InvalidDataError("another layer has that name")
            _check_layer(network, layer, written)
        names.add(layer.name)
        written.update(layer.outputs)
    if not network.layers:
        raise InvalidDataError("it has no layers")
    for name in network.tensors:
        if name not in written:
            raise InvalidDataError(f"tensor '{name}' is written by no layer")
    if not network.outputs:
        raise InvalidDataError("it has no outputs")


@contextmanager
def located(where: str) -> Iterator[None]:
    """Prefix the text of an InvalidDataError from the block with `where`."""
    try:
        yield
    except InvalidDataError as error:
        raise InvalidDataError(f"{where}: {error}") from None


def require_layer(layer: Layer, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
    """Return the output shapes for `inputs`; InvalidDataError if the layer does not fit them.

    Outputs may be empty only if an input is empty.
    """
    domains.require(layer)
    least, most = layer.operands
    if not least <= len(inputs) <= most:
        raise InvalidDataError(f"it has {len(inputs)} inputs and needs {least}")
    rank = len(inputs[0]) if inputs else 0
    if layer.ranks is not None and rank not in layer.ranks:
        raise InvalidDataError(f"its input has {rank} axes and needs {layer.ranks[0]}")
    domains.require_axes(layer, rank)
    outputs = layer.output_shapes(inputs)
    if len(outputs) != len(layer.outputs):
        raise InvalidDataError(f"it names {len(layer.outputs)} outputs and has {len(outputs)}")
    may_be_empty = least == 0 or any(0 in shape for shape in inputs)
    for shape in outputs:
        if min(shape, default=1) < (0 if may_be_empty else 1):
            raise InvalidDataError(f"its output would have the shape {list(shape)}")
    return outputs


def _check_ends(network: Network) -> None:
    """Check that inputs and outputs are tensors, and that names are unique and not empty."""
    for kind, known in (("tensor", network.tensors), ("constant", network.constants)):
        if "" in known:  # in an ONNX file this is an operand that is left out
            raise InvalidDataError(f"a {kind} has no name")
    for name in network.tensors.keys() & network.constants.keys():
        raise InvalidDataError(f"'{name}' is a tensor and a constant")
    for kind, names in (("input", network.inputs), ("output", network.outputs)):
        for position, name in enumerate(names):
            if name not in network.tensors:
                raise InvalidDataError(f"{kind} '{name}' is no tensor of the network")
            if name in names[:position]:
                raise InvalidDataError(f"{kind} '{name}' is named twice")
    for name in network.input_formats:
        if name not in network.inputs:
            raise InvalidDataError(f"an input format is given for '{name}', which is no input")
        steps = network.input_format(name).pictures
        if steps is not None and (fault := steps.fault()):
            raise InvalidDataError(f"input '{name}' has {fault}")
    for name, end in network.coded_ends.items():
        if name not in network.tensors or network.tensors[name].dtype != "float32":
            raise InvalidDataError(f"codes are said of '{name}', which is no tensor of float32")
        if fault := end.fault():
            raise InvalidDataError(f"'{name}' has {fault}")


def _check_layer(network: Network, layer: Layer, written: Collection[str]) -> None:
    """Check that the layer fits the tensors `written` by network inputs and earlier layers."""
    for name in layer.inputs:
        if name not in written and name not in network.constants:
            problem = "is written by nothing before it" if name in network.tensors else "is unknown"
            raise InvalidDataError(f"input '{name}' {problem}")
    for position, name in enumerate(layer.outputs):
        if name not in network.tensors:
            raise InvalidDataError(f"output '{name}' is no tensor of the network")
        if name in written or name in layer.outputs[:position]:
            raise InvalidDataError(f"output '{name}' is an input or another layer's output")
    constants = {}
    for name in (*layer.parameters, *layer.statistics):
        if name not in network.constants:
            raise InvalidDataError(f"constant '{name}' is unknown")
        constants[name] = network.constants[name].shape
    shapes = network.input_shapes(layer)
    computed, stated = require_layer(layer, shapes), network.layer_outputs(layer)
    if computed != stated:
        raise InvalidDataError(
            f"its output is said to have the shape {_listed(stated)}, and its inputs make "
            f"{_listed(computed)}"
        )
    layer.require_parameters(shapes, constants)


def _listed(shapes: Sequence[Shape]) -> str:
    return " and ".join(str(list(shape)) for shape in shapes)
