"""Calls the functions that users bring: what goes wrong is one sentence, what comes out is checked.

The sentence names the file and line of the user's that was reached last, the operator and the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
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
    with _telling(layer, node, "shapes", layer.shapes):
        given = list(layer.shapes(node))
        found = tuple(tuple(size.__index__() for size in shape) for shape in given)
    if len(found) != count:
        raise _wrong(layer, node, "shapes", f"returns {len(found)} shapes for {count} outputs")
    if any(size < 0 for shape in found for size in shape):
        raise _wrong(layer, node, "shapes", f"returns {[*map(list, found)]}, with a size below 0")
    return found


def float_values(layer: UserLayer, node: Node, inputs: Sequence[Array | None]) -> list[Array]:
    """Return the outputs of a node for real inputs, each of its own shape and element type."""
    with _telling(layer, node, "floats", layer.floats):
        found = _listed(layer.floats(node, *map(_kept, inputs)), len(node.outputs))
    _require_count(layer, node, "floats", found)
    return [
        _typed(layer, node, array, shape, layer.dtype(at))
        for at, (array, shape) in enumerate(zip(found, node.outputs, strict=True))
    ]


def coded_values(layer: UserLayer, node: Node, inputs: Sequence[Array | None]) -> Array:
    """Return the codes of the one output of a node, for codes of its inputs."""
    assert layer.codes is not None, layer.name
    assert node.output_scale is not None, node.name
    with _telling(layer, node, "codes", layer.codes):
        found = _listed(layer.codes(node, *map(_kept, inputs)), 1)
    _require_count(layer, node, "codes", found)
    codes, most = found[0], (1 << node.output_scale.bits) - 1
    _require_shape(layer, node, "codes", codes, node.outputs[0])
    if codes.dtype.kind not in "iu":
        raise _wrong(layer, node, "codes", f"returns {codes.dtype} numbers, and codes are integers")
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) <= most:
        reach = f"from {codes.min()} to {codes.max()}"
        raise _wrong(layer, node, "codes", f"returns numbers {reach}; codes reach from 0 to {most}")
    return codes


def cost_of(layer: UserLayer, node: Node, processor: Processor) -> Cost | None:
    """Return what a node costs, None if nobody said it."""
    rule = layer.costs.get(processor)
    if rule is None or isinstance(rule, Cost):
        return rule
    with _telling(layer, node, "costs", rule):
        found = rule(node)
    if not isinstance(found, Cost):
        raise _wrong(layer, node, "costs", f"returns {shortened(repr(found))}, which is no Cost")
    return found


def _kept(array: Array | None) -> Array | None:
    """An input that the user's code cannot change."""
    if array is None:
        return None
    seen = array.view()
    seen.flags.writeable = False
    return seen


def _listed(result: Any, count: int) -> list[Array]:
    several = isinstance(result, tuple | list) and (count > 1 or isinstance(result, tuple))
    return [np.asarray(one) for one in (result if several else [result])]


def _typed(layer: UserLayer, node: Node, array: Array, shape: Shape, dtype: str) -> Array:
    """The array as the network has it: floats of any width are floats."""
    _require_shape(layer, node, "floats", array, shape)
    wanted = np.dtype(dtype)
    if array.dtype != wanted and not (array.dtype.kind == wanted.kind == "f"):
        text = f"returns {array.dtype} numbers; expected {dtype}"
        raise _wrong(layer, node, "floats", text)
    return np.ascontiguousarray(array, wanted).reshape(shape)


def _require_count(layer: UserLayer, node: Node, what: str, found: Sequence[Array]) -> None:
    if len(found) != len(node.outputs):
        text = f"returns {len(found)} arrays for {len(node.outputs)} outputs"
        raise _wrong(layer, node, what, text)


def _require_shape(layer: UserLayer, node: Node, what: str, array: Array, shape: Shape) -> None:
    if array.shape != shape:
        text = f"returns the shape {list(array.shape)}; the shape rule says {list(shape)}"
        raise _wrong(layer, node, what, text)


@contextmanager
def _telling(
    layer: UserLayer, node: Node, what: str, function: Callable[..., Any]
) -> Iterator[None]:
    """Turn whatever the user's code raises into one sentence."""
    try:
        yield
    except HexsimError:
        raise
    except (Exception, SystemExit) as error:
        line = line_in(error.__traceback__, _file_of(function))
        text = f"raises {exception_text(error)}"
        raise _wrong(layer, node, what, text, line) from error


def _wrong(
    layer: UserLayer, node: Node, what: str, text: str, line: int | None = None
) -> HexsimError:
    function = getattr(layer, what)
    code = getattr(function, "__code__", None)
    line = line or (None if code is None else code.co_firstlineno)
    return HexsimError(
        f"{where(layer.source, line)}: {what} of user-defined {layer.name} {text} "
        f"(node '{node.name}'); correct the function"
    )


def where(source: str, line: int | None) -> str:
    """The place in a message: file and, if it is known, line."""
    shown = f"'{source}'" if source else "a layer of this program"
    return f"{shown}, line {line}" if line else shown


def exception_text(error: BaseException) -> str:
    """Kind and text of an exception in one line."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    return shortened(f"{kind}: {text}" if text else kind, _MOST)


def line_in(trace: TracebackType | None, file: str) -> int | None:
    """The line of `file` that was reached last, None if none was."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def _file_of(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return "" if code is None else str(Path(code.co_filename))
