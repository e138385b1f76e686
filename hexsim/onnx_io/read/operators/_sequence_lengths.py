"""Sequences of different lengths in one recurrent node: each length gets a separate layer.

The steps after the end of a sequence are not read, and are zero in the result. So neighbours in the
batch with the same length are sliced out, run by a separate layer, and padded with zeros.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.errors import InvalidDataError
from hexsim.layers import Concat, Pad
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer


@dataclass(frozen=True)
class Block:
    """The sequences `first` to `stop` of the batch, which all have `length` steps."""

    first: int
    stop: int
    length: int


def blocks(node: OnnxNode, net: Importer, steps: int, batch: int) -> list[Block]:
    """Return the blocks of equal length; one block of all steps if the node states no lengths.

    NotALayerError if the lengths are not known, or one is 0.
    """
    name = node.input(4)
    if not name:
        return [Block(0, batch, steps)]
    if name not in net.known:
        raise NotALayerError(
            f"the lengths of its sequences, '{name}', are not known before the network runs; if "
            "they depend on an input alone, give that a value (--input-value)"
        )
    lengths = net.whole_numbers(name)
    if len(lengths) != batch or not all(0 <= length <= steps for length in lengths):
        raise InvalidDataError(
            f"the lengths '{name}' are {list(lengths)[:8]}; expected {batch} from 0 to {steps}"
        )
    if 0 in lengths:
        raise NotALayerError(f"the lengths '{name}' of its sequences say that one has no steps")
    starts = [index for index in range(batch) if index == 0 or lengths[index] != lengths[index - 1]]
    stops = [*starts[1:], batch]
    return [Block(first, stop, lengths[first]) for first, stop in zip(starts, stops, strict=True)]


def filled(net: Importer, name: str, steps: int) -> str:
    """Add zeros after the last step of (steps, directions, batch, hidden); name the result."""
    missing_steps = steps - net.source_shape(name)[0]
    if not missing_steps:
        return name
    label, begins = net.unique(f"{name}.filled"), (0, 0, 0, 0)
    ends = (missing_steps, 0, 0, 0)
    source = net.source_order(name)
    layer = Pad(name=label, inputs=(source,), outputs=(label,), begins=begins, ends=ends)
    net.add(layer, identity(4))
    return label


def joined(net: Importer, names: Sequence[str], label: str, output: str) -> None:
    """Concatenate the results of the blocks along the batch, the last axis but one.

    `label` names the layer.
    """
    shape = net.source_shape(names[0])
    if len(names) == 1:
        net.reshape(label, names[0], shape, output)
        return
    sources = tuple(net.source_order(name) for name in names)
    layer = Concat(name=label, inputs=sources, outputs=(output,), axis=len(shape) - 2)
    net.add(layer, identity(len(shape)))
