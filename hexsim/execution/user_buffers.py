"""User buffers: the form in which an application hands inputs over and takes outputs back.

A float buffer holds floats of 32 or 16 bits. A "tf" buffer holds codes of 8 or 16 bits, never
signed. The codes of an output, and of an input whose range is static, are those of the model's
encoding of that tensor, or of its range where the model has another width. Those of any other input
are of the range of each set of inputs, found by the default rule (docs/reference/arithmetic.md); so
does snpe-net-run unless --static_min_max is given. Integers and booleans stay as they are, whatever
the buffers are asked to be: a buffer of them has the type of its tensor.

A runtime computes on what the codes stand for; if it computes in codes itself, those of a static
range are its own.

Left out: buffers in the memory of a GPU, and buffers that are mapped into the DSP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from hexsim.errors import HexsimError
from hexsim.execution.subnet_executor import ListExecutor
from hexsim.graph.ir import FloatArray
from hexsim.graph.whole_numbers import WHOLE_TYPES
from hexsim.inputs.raw_numbers import native_type
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class BufferKind:
    """What all buffers of one side are asked to be; `auto` follows each tensor's encoding."""

    name: str
    form: Literal["float", "tf", "auto"]
    bits: int = 32


KINDS = {
    kind.name: kind
    for kind in (
        BufferKind("float", "float"),
        BufferKind("float16", "float", 16),
        BufferKind("tf8", "tf", 8),
        BufferKind("tf16", "tf", 16),
        BufferKind("auto", "auto"),
    )
}
"""Every kind by the name that the SNPE tools have for it."""


@dataclass(frozen=True)
class Buffer:
    """One tensor's buffer; codes without an encoding have that of the values they are made of.

    `whole` is the type of a tensor of integers or booleans, whose values are its own numbers.
    """

    bits: int = 32
    codes: bool = False
    encoding: Encoding | None = None
    whole: str | None = None

    @property
    def type(self) -> str:
        """The type of its numbers, as numpy names it in a file."""
        if self.whole is not None:
            return native_type(self.whole)
        return f"<{'u' if self.codes else 'f'}{self.bits // 8}"

    def hold(self, values: FloatArray) -> FloatArray:
        """What comes out again of floats that are put in."""
        if not self.codes:
            return self._floats(values)
        encoding = self.encoding or _encoding_of(values, self.bits)
        return encoding.dequantize(encoding.quantize(values))

    def read(self, numbers: FloatArray) -> FloatArray:
        """The floats that its own numbers, from a file, stand for."""
        if not self.codes:
            return numbers
        assert self.encoding is not None
        return self.encoding.dequantize(numbers.astype(np.int64))

    def write(self, values: FloatArray) -> FloatArray:
        """Its own numbers for some floats."""
        if not self.codes:
            return self._floats(values)
        assert self.encoding is not None
        return self.encoding.quantize(values).astype(np.float32)

    def _floats(self, values: FloatArray) -> FloatArray:
        """Floats of its width; whole numbers as they are."""
        if self.bits == 32 or self.whole is not None:
            return values
        return _half(values).astype(np.float32)


def _half(values: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
    """The nearest half-precision numbers; the largest there are for what is larger."""
    most = np.finfo(np.float16).max
    return np.clip(values, -most, most).astype(np.float16)


def _encoding_of(values: FloatArray, bits: int) -> Encoding:
    return Encoding.from_range(float(values.min(initial=0)), float(values.max(initial=0)), bits)


def buffers(
    model: Model, names: Iterable[str], kind: BufferKind, *, static: bool = True
) -> dict[str, Buffer]:
    """Return the buffer of each tensor of `model`, as the runtime has loaded it.

    Unless `static`, codes have the encoding of each set of values. Raises HexsimError for a tensor
    whose codes would need an encoding that the model does not have.
    """
    return {name: _buffer(model, name, kind, static) for name in names}


def _buffer(model: Model, name: str, kind: BufferKind, static: bool) -> Buffer:
    dtype = model.network.tensors[name].dtype
    if dtype in WHOLE_TYPES:
        return Buffer(whole=dtype)
    found = model.encoding(name) if dtype == "float32" else None
    encoding = replace(found, symmetric=False) if isinstance(found, Encoding) else None
    if kind.form == "float" or dtype != "float32":
        return Buffer(32 if kind.form != "float" else kind.bits)
    if kind.form == "auto":
        return Buffer(encoding.bitwidth, True, encoding) if encoding else Buffer()
    if not static:
        return Buffer(kind.bits, True)
    if encoding is None:
        raise HexsimError(
            f"a {kind.name} buffer of tensor '{name}' needs its encoding, which network "
            f"'{model.name}' does not have there; quantise the network first, or take float buffers"
        )
    if encoding.bitwidth != kind.bits:
        encoding = Encoding.from_range(encoding.min, encoding.max, kind.bits)
    return Buffer(kind.bits, True, encoding)


@dataclass(frozen=True)
class Buffered:
    """An executor behind user buffers.

    `native` sides (`inputs`, `outputs`) are those whose files hold the buffers' own numbers instead
    of floats.
    """

    executor: ListExecutor
    inputs: Mapping[str, Buffer]
    outputs: Mapping[str, Buffer]
    native: frozenset[str] = field(default=frozenset())

    def run_each(
        self, feeds: Iterable[Mapping[str, FloatArray]]
    ) -> Iterator[dict[str, FloatArray]]:
        """Yield the outputs for each of `feeds`, both in stored order and as their files hold them.

        Some of the feeds are read ahead.
        """
        put: Callable[[Buffer, FloatArray], FloatArray]
        got: Callable[[Buffer, FloatArray], FloatArray]
        put = Buffer.read if "inputs" in self.native else Buffer.hold
        got = Buffer.write if "outputs" in self.native else Buffer.hold
        held = ({n: put(self.inputs[n], v) for n, v in feed.items()} for feed in feeds)
        for values in self.executor.run_each(held):
            yield {n: got(self.outputs[n], v) for n, v in values.items()}

    @property
    def output_types(self) -> dict[str, str]:
        """Types of the numbers that are returned, for files."""
        native = "outputs" in self.native
        return {name: output.type for name, output in self.outputs.items()} if native else {}
