"""User buffers: the form in which an application passes inputs and receives outputs.

A float buffer holds floats of 32 or 16 bits. A "tf" buffer holds codes (quantised values) of 8 or
16 bits, never signed. The codes of an output, and of an input whose range is static, use the
model's encoding of that tensor, or an encoding of the same range where the model has another width.
The codes of any other input use the range of each set of inputs, found by the default rule
(docs/reference/arithmetic.md); snpe-net-run does the same unless static_min_max is given.
Integers and booleans are not converted: a buffer of them has the type of its tensor, whichever kind
of buffer is asked for.

A runtime computes with the values that the codes stand for; a runtime that computes in codes itself
takes codes of a static range as they are.

Left out: buffers in the memory of a GPU, and buffers that are mapped into the DSP.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

import numpy as np

from hexsim.errors import HexsimError
from hexsim.execution.executors import ListExecutor
from hexsim.graph.ir import FloatArray
from hexsim.graph.whole_numbers import WHOLE_TYPES
from hexsim.inputs.raw_numbers import native_type
from hexsim.quantization.encodings import Encoding, input_codes
from hexsim.quantization.model import Model
from hexsim.records import dataclass, field, replace


@dataclass(frozen=True)
class BufferKind:
    """The kind that all buffers of one side have; `auto` follows each tensor's encoding."""

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
"""Every kind by its name in the SNPE tools."""


@dataclass(frozen=True)
class Buffer:
    """The buffer of one tensor; codes without an encoding have that of the values they are made of.

    `whole` is the type of a tensor of integers or booleans, which are stored as they are.
    """

    bits: int = 32
    codes: bool = False
    encoding: Encoding | None = None
    whole: str | None = None

    @property
    def type(self) -> str:
        """Return the type of the buffer's numbers, as numpy names it in a file."""
        if self.whole is not None:
            return native_type(self.whole)
        return f"<{'u' if self.codes else 'f'}{self.bits // 8}"

    def take(self, values: FloatArray) -> FloatArray:
        """Return the floats of an input as the runtime reads them from the buffer.

        Codes are those that a fixed-point subnet would make of the floats.
        """
        if not self.codes:
            return self._floats(values)
        encoding = self.encoding or _encoding_of(values, self.bits)
        return encoding.dequantize(input_codes(values, encoding))

    def hold(self, values: FloatArray) -> FloatArray:
        """Return the floats of an output as they are read again from the buffer."""
        if not self.codes:
            return self._floats(values)
        encoding = self.encoding or _encoding_of(values, self.bits)
        return encoding.dequantize(encoding.quantize(values))

    def read(self, numbers: FloatArray) -> FloatArray:
        """Return the floats that the buffer's own numbers, from a file, stand for."""
        if not self.codes:
            return numbers
        assert self.encoding is not None
        return self.encoding.dequantize(numbers.astype(np.int64))

    def write(self, values: FloatArray) -> FloatArray:
        """Return the buffer's own numbers for floats."""
        if not self.codes:
            return self._floats(values)
        assert self.encoding is not None
        return self.encoding.quantize(values).astype(np.float32)

    def _floats(self, values: FloatArray) -> FloatArray:
        """Return floats of the buffer's width; integers and booleans as they are."""
        if self.bits == 32 or self.whole is not None:
            return values
        return _half(values).astype(np.float32)


def _half(values: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
    """Return the nearest float16 numbers; larger values become the largest float16 number."""
    largest = np.finfo(np.float16).max
    return np.clip(values, -largest, largest).astype(np.float16)


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
    stored = model.encoding(name) if dtype == "float32" else None
    encoding = replace(stored, symmetric=False) if isinstance(stored, Encoding) else None
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
    """An executor whose inputs and outputs pass through user buffers.

    The files of the sides in `native` ("inputs", "outputs") hold the buffers' own numbers instead
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
        read_input: Callable[[Buffer, FloatArray], FloatArray]
        write_output: Callable[[Buffer, FloatArray], FloatArray]
        read_input = Buffer.read if "inputs" in self.native else Buffer.take
        write_output = Buffer.write if "outputs" in self.native else Buffer.hold
        stored_feeds = (
            {name: read_input(self.inputs[name], array) for name, array in feed.items()}
            for feed in feeds
        )
        for values in self.executor.run_each(stored_feeds):
            yield {name: write_output(self.outputs[name], array) for name, array in values.items()}

    @property
    def output_types(self) -> dict[str, str]:
        """Return the types of the returned numbers, for files."""
        native = "outputs" in self.native
        return {name: output.type for name, output in self.outputs.items()} if native else {}
