"""Calls the functions that users bring: what goes wrong is one sentence, what comes out is checked.

The sentence names the file and line of the user's that was reached last, the operator and the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from hexsim.errors import HexsimError
from hexsim.texts.text import shortened
from hexsim.udl.definition import Array, Cost, Node, Processor, Shape, UserLayer

_MOST = 200
"""Characters of an exception's text that a sentence shows."""


def output_shapes(layer: UserLayer, node: Node, count: int) -> tuple[Shape, ...]:
    """Return the shapes of the `count` outputs of a node."""
    call = _UserCall(layer, node, "shapes", layer.shapes)
    with call.told():
        given = list(layer.shapes(node))
        found = tuple(tuple(size.__index__() for size in shape) for shape in given)
    if len(found) != count:
        raise call.wrong(f"returns {len(found)} shapes for {count} outputs")
    if any(size < 0 for shape in found for size in shape):
        raise call.wrong(f"returns {[*map(list, found)]}, with a size below 0")
    return found


def float_values(layer: UserLayer, node: Node, inputs: Sequence[Array | None]) -> list[Array]:
    """Return the outputs of a node for real inputs, each of its own shape and element type."""
    call = _UserCall(layer, node, "floats", layer.floats)
    found = call.arrays(inputs)
    return [_typed(call, array, at) for at, array in enumerate(found)]


def coded_values(layer: UserLayer, node: Node, inputs: Sequence[Array | None]) -> Array:
    """Return the codes of the one output of a node, for codes of its inputs."""
    assert layer.codes is not None, layer.name
    assert node.output_scale is not None, node.name
    call = _UserCall(layer, node, "codes", layer.codes)
    (codes,) = call.arrays(inputs)
    most = (1 << node.output_scale.bits) - 1
    if codes.dtype.kind not in "iu":
        raise call.wrong(f"returns {codes.dtype} numbers, and codes are integers")
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) <= most:
        reach = f"from {codes.min()} to {codes.max()}"
        raise call.wrong(f"returns numbers {reach}; codes reach from 0 to {most}")
    return codes


def cost_of(layer: UserLayer, node: Node, processor: Processor) -> Cost | None:
    """Return what a node costs, None if nobody said it."""
    rule = layer.costs.get(processor)
    if rule is None or isinstance(rule, Cost):
        return rule
    call = _UserCall(layer, node, "costs", rule)
    with call.told():
        found = rule(node)
    if not isinstance(found, Cost):
        raise call.wrong(f"returns {shortened(repr(found))}, which is no Cost")
    return found


@dataclass(frozen=True)
class _UserCall:
    """A function of the user's, which is what the layer has as `what`, at a node."""

    layer: UserLayer
    node: Node
    what: str
    function: Callable[..., Any]

    def arrays(self, inputs: Sequence[Array | None]) -> list[Array]:
        """Call it for arrays; return one for each output, of its shape."""
        shapes = self.node.outputs
        with self.told():
            result = self.function(self.node, *map(_kept, inputs))
            several = isinstance(result, tuple) or (isinstance(result, list) and len(shapes) > 1)
            found = [np.asarray(one) for one in (result if several else [result])]
        if len(found) != len(shapes):
            raise self.wrong(f"returns {len(found)} arrays for {len(shapes)} outputs")
        for array, shape in zip(found, shapes, strict=True):
            if array.shape != shape:
                text = f"returns the shape {list(array.shape)}; the shape rule says {list(shape)}"
                raise self.wrong(text)
        return found

    @contextmanager
    def told(self) -> Iterator[None]:
        """Turn whatever the user's code raises into one sentence."""
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


def _kept(array: Array | None) -> Array | None:
    """An input that the user's code cannot change."""
    if array is None:
        return None
    seen = array.view()
    seen.flags.writeable = False
    return seen


def _typed(call: _UserCall, array: Array, at: int) -> Array:
    """The array as the network has it: floats of any width are floats."""
    wanted = np.dtype(call.layer.dtype(at))
    if array.dtype != wanted and not (array.dtype.kind == wanted.kind == "f"):
        raise call.wrong(f"returns {array.dtype} numbers; expected {wanted}")
    return np.ascontiguousarray(array, wanted).reshape(array.shape)


def where(source: str, line: int | None) -> str:
    """The place in a message: file and, if it is known, line."""
    shown = f"'{source}'" if source else "a layer of this program"
    return f"{shown}, line {line}" if line else shown


def exception_text(error: BaseException) -> str:
    """Kind and text of an exception in one line."""
    text = " ".join(str(error).split())
    kind = "" if isinstance(error, HexsimError) else type(error).__name__
    return shortened(": ".join(filter(None, (kind, text))), _MOST)


def line_in(trace: TracebackType | None, file: str) -> int | None:
    """The line of `file` that was reached last, None if none was."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
