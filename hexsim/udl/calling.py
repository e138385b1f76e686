"""Calls the functions of user-defined layers, reports their errors and checks their results.

An error is one sentence, which names the last line of the user's file that was reached, the
operator and the node.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.texts.text import shortened
from hexsim.udl.definition import Array, Cost, Node, Processor, Shape, UserLayer

_MOST = 200
"""Characters of an exception's text that a message shows."""


def output_shapes(layer: UserLayer, node: Node, count: int) -> tuple[Shape, ...]:
    """Return the shapes of the `count` outputs of a node."""
    call = _UserCall(layer, node, "shapes", layer.shapes)
    with call.errors_reported():
        returned = list(layer.shapes(node))
        shapes = tuple(tuple(size.__index__() for size in shape) for shape in returned)
    if len(shapes) != count:
        raise call.wrong(f"returns {len(shapes)} shapes for {count} outputs")
    if any(size < 0 for shape in shapes for size in shape):
        raise call.wrong(f"returns {[*map(list, shapes)]}, with a size below 0")
    return shapes


def float_values(layer: UserLayer, node: Node, inputs: Sequence[Array | None]) -> list[Array]:
    """Return the outputs of a node for real inputs, each of its own shape and element type."""
    call = _UserCall(layer, node, "floats", layer.floats)
    outputs = call.arrays(inputs)
    return [_typed(call, array, position) for position, array in enumerate(outputs)]


def coded_values(layer: UserLayer, node: Node, inputs: Sequence[Array | None]) -> Array:
    """Return the codes of the one output of a node, for codes of its inputs."""
    assert layer.codes is not None, layer.name
    assert node.output_scale is not None, node.name
    call = _UserCall(layer, node, "codes", layer.codes)
    (codes,) = call.arrays(inputs)
    largest = (1 << node.output_scale.bits) - 1
    if codes.dtype.kind not in "iu":
        raise call.wrong(f"returns {codes.dtype} numbers, and codes are integers")
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) <= largest:
        limits = f"from {codes.min()} to {codes.max()}"
        raise call.wrong(f"returns numbers {limits}; codes reach from 0 to {largest}")
    return codes


def cost_of(layer: UserLayer, node: Node, processor: Processor) -> Cost | None:
    """Return the cost of a node, None if the layer does not state it."""
    rule = layer.costs.get(processor)
    if rule is None or isinstance(rule, Cost):
        return rule
    call = _UserCall(layer, node, "costs", rule)
    with call.errors_reported():
        cost = rule(node)
    if not isinstance(cost, Cost):
        raise call.wrong(f"returns {shortened(repr(cost))}, which is no Cost")
    return cost


@dataclass(frozen=True)
class _UserCall:
    """A function of a user-defined layer, its attribute `what`, called for a node."""

    layer: UserLayer
    node: Node
    what: str
    function: Callable[..., Any]

    def arrays(self, inputs: Sequence[Array | None]) -> list[Array]:
        """Call it for arrays; return one for each output, of its shape."""
        shapes = self.node.outputs
        with self.errors_reported():
            result = self.function(self.node, *map(_read_only, inputs))
            several = isinstance(result, tuple) or (isinstance(result, list) and len(shapes) > 1)
            outputs = [np.asarray(output) for output in (result if several else [result])]
        if len(outputs) != len(shapes):
            raise self.wrong(f"returns {len(outputs)} arrays for {len(shapes)} outputs")
        for array, shape in zip(outputs, shapes, strict=True):
            if array.shape != shape:
                text = f"returns the shape {list(array.shape)}; the shape rule says {list(shape)}"
                raise self.wrong(text)
        return outputs

    @contextmanager
    def errors_reported(self) -> Iterator[None]:
        """Turn any error that the user's code raises into one sentence."""
        try:
            yield
        except (Exception, SystemExit) as error:
            code = getattr(self.function, "__code__", None)
            line = None if code is None else line_in(error.__traceback__, code.co_filename)
            raise self.wrong(f"raises {exception_text(error)}", line) from error

    def wrong(self, text: str, line: int | None = None) -> HexsimError:
        """Build the error that says what the function did."""
        code = getattr(self.function, "__code__", None)
        line = line or (None if code is None else code.co_firstlineno)
        return HexsimError(
            f"{where(self.layer.source, line)}: {self.what} of user-defined {self.layer.name} "
            f"{text} (node '{self.node.name}'); correct the function"
        )


def _read_only(array: Array | None) -> Array | None:
    """Return an input as an array that the user's code cannot change."""
    if array is None:
        return None
    view = array.view()
    view.flags.writeable = False
    return view


def _typed(call: _UserCall, array: Array, position: int) -> Array:
    """Return the array in the element type of the network; floats of any width are converted."""
    expected = np.dtype(call.layer.dtype(position))
    if array.dtype != expected and not (array.dtype.kind == expected.kind == "f"):
        raise call.wrong(f"returns {array.dtype} numbers; expected {expected}")
    return np.ascontiguousarray(array, expected).reshape(array.shape)


def where(source: str, line: int | None) -> str:
    """Return the place for a message: the file and, if it is known, the line."""
    place = f"'{source}'" if source else "a layer of this program"
    return f"{place}, line {line}" if line else place


def exception_text(error: BaseException) -> str:
    """Return the type and the text of an exception in one line."""
    text = " ".join(str(error).split())
    kind = "" if isinstance(error, HexsimError) else type(error).__name__
    return shortened(": ".join(filter(None, (kind, text))), _MOST)


def line_in(trace: TracebackType | None, file: str) -> int | None:
    """Return the line of `file` that was reached last, None if none was."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
