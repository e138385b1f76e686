"""Model: a network with its encodings, as a file stores it, in floats or quantised."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.domains import Count, Positive
from hexsim.graph.ir import Constant, FloatArray, Layer, Network
from hexsim.onnx_io.write.precision import as_float16
from hexsim.quantization.encodings import AxisEncoding, Encoding, FloatBits, Runs, packed_bytes
from hexsim.quantization.evidence import NO_EVIDENCE, Evidence, Loss, findings
from hexsim.quantization.overrides import NO_OVERRIDES, KeyOutcome, Overrides
from hexsim.records import dataclass, field, replace
from hexsim.texts.display import Cell, DisplayTable, Shown

if TYPE_CHECKING:
    from hexsim.passes.provenance import Provenance


Reference = Literal["float network", "the file's own weights"]
"""The weights that a runtime is compared with: a file may hold only rounded ones."""


@dataclass(frozen=True)
class HtaSection:
    """Consecutive layers that the tensor engine of `chip` runs; `record` is the compiled form."""

    chip: str
    layers: tuple[str, ...]
    record: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class GraphRecord:
    """A graph of `layers` layers that is prepared for a `runtime` of a tensor processor.

    It suits `chip` under `stack`, with `vtcm_bytes` of VTCM, and `binary_bytes` estimates the size
    of its context binary. What a binary holds is not published, so no byte of it is kept.
    """

    chip: str
    stack: str
    runtime: Literal["htp", "htp_fp16"]
    vtcm_bytes: Count
    layers: Positive
    binary_bytes: Count

    def __str__(self) -> str:
        vtcm = f"VTCM of {self.vtcm_bytes / 2**20:g} MB"
        return f"{self.runtime} of {self.chip} with {self.stack} and {vtcm}"


class ArrayType(NamedTuple):
    """The shape, in ONNX axis order, and the element type of an input or output."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, repr=False)
class Model(Shown):
    """A network in floats, or a `quantized` network with its encodings.

    `network` is the float reference, and `reference` says what its weights are. Float runtimes
    compute with `as_stored`: a constant with an encoding has the values of its codes (its quantised
    values), a float16 constant has the values rounded to float16, and any other is the array
    itself. So a model gives the same results before it is written and after it is read. With
    `float_weights` a file stores float weights and biases beside their encodings; only fixed-point
    runtimes, which quantise them at load, compute with their codes (`as_coded`).

    `activations` maps tensor names (and constants used as operands) to encodings; `parameters`
    maps weights and biases. A bias of 32 bits has no encoding of its own: it is stored at the
    accumulator's scale when the network is lowered. A model in floats has no encodings.

    `floats` has the bits of the tensors, weights and biases that stay float in a quantised network;
    they have no encoding. A layer whose output is listed there computes in floats.

    `packs_weights` says that a 4-bit weight takes half a byte in a file instead of a byte.
    `stored_constants` has the constants as the file of the model stores them, if it was read.
    `origins` gives the source of each encoding in a few words, `overrides` the outcome of each
    override when the network was quantised, `notes` further remarks about quantising; a file does
    not store the latter two. `evidence` has the losses that calibration proved.
    `hta` are the sections compiled for tensor engines, in the order of the layers, and `graphs`
    the graphs prepared for tensor processors.
    `equalized` says that scales were moved between the layers of `network`
    (hexsim.quantization.equalization), so that its tensors have other values than those of the
    network it was made from.

    `own_overrides` are the encodings that nodes of the ONNX file gave a model in floats.
    `provenance` maps names of that file to names after optimising; a .dlc file stores it only for
    the overrides it holds.

    A quantised model without encodings is one whose encodings have not been chosen yet. The ranges
    of the tensors in `uncalibrated` are arbitrary: such a model is for times only.
    """

    network: Network
    activations: Mapping[str, Encoding] = field(default_factory=dict)
    parameters: Mapping[str, Encoding | AxisEncoding] = field(default_factory=dict)
    stored_constants: Mapping[str, Constant] = field(
        default_factory=dict, repr=False, compare=False
    )
    packs_weights: bool = False
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    overrides: tuple[KeyOutcome, ...] = field(default=(), repr=False, compare=False)
    hta: tuple[HtaSection, ...] = ()
    graphs: tuple[GraphRecord, ...] = field(default=(), compare=False)
    equalized: bool = False
    floats: Mapping[str, FloatBits] = field(default_factory=dict)
    quantized: bool = False
    float_weights: bool = False
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    own_overrides: Overrides = field(default=NO_OVERRIDES, repr=False, compare=False)
    provenance: Provenance | None = field(default=None, repr=False, compare=False)
    evidence: Evidence = field(default=NO_EVIDENCE, repr=False, compare=False)
    reference: Reference = field(default="float network", repr=False, compare=False)
    uncalibrated: tuple[str, ...] = field(default=(), repr=False)
    _stored: dict[str, Constant] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _codes: dict[str, Constant] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.quantized and (self.activations or self.parameters or self.floats or self.hta):
            raise InvalidDataError(f"model '{self.name}' has encodings and is said to be in floats")
        if self.float_weights and not self.quantized:
            raise InvalidDataError(f"model '{self.name}' is in floats, its weights too")

    @property
    def name(self) -> str:
        """Name of the network."""
        return self.network.name

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, in the order in which they run."""
        return self.network.layers

    @property
    def inputs(self) -> dict[str, ArrayType]:
        """The shape and type of each input, by its name."""
        return {name: self._array_type(name) for name in self.network.inputs}

    @property
    def outputs(self) -> dict[str, ArrayType]:
        """The shape and type of each output, by its name."""
        return {name: self._array_type(name) for name in self.network.outputs}

    def _array_type(self, name: str) -> ArrayType:
        tensor, coded = self.network.tensors[name], self.network.coded_ends.get(name)
        return ArrayType(tensor.source_shape, tensor.dtype if coded is None else str(coded.type))

    @cached_property
    def findings(self) -> tuple[Loss, ...]:
        """The certain losses of its encodings, the worst first; empty for a model in floats.

        Where ranges are arbitrary, they are those of the weights.
        """
        ranges = {} if self.uncalibrated else self.activations
        own = self.reference == "the file's own weights" and not self.float_weights
        codes = {n: c for n, c in self.stored_constants.items() if own and n in self.parameters}
        return findings(self.network, ranges, self.parameters, self.evidence, codes)

    def display_table(self) -> DisplayTable:
        """Return a table of the layers, with the ranges of their quantised outputs."""
        network = self.network
        kind = "quantised" if self.quantized else "float"
        return DisplayTable(
            f"{self.name}, {kind}, {len(network.layers)} layers, {network.total_parameters:,} "
            f"parameters, {network.total_macs:,} MACs",
            ("layer", "type", "output", "parameters", "MACs", "min", "max", "bits"),
            tuple(
                (
                    *(layer.name, layer.type),
                    "x".join(map(str, network.tensors[layer.output].shape)),
                    *(network.parameter_count(layer), network.macs(layer)),
                    *self._range(layer.output),
                )
                for layer in network.layers
            ),
            bars="MACs",
        )

    def _range(self, name: str) -> tuple[Cell, Cell, Cell]:
        """Return min, max and bits of a tensor's encoding, or only the bits of its floats."""
        encoding = self.activations.get(name)
        if encoding is None:
            return None, None, self.floats.get(name)
        return encoding.min, encoding.max, encoding.bitwidth

    def encoding(self, name: str) -> Encoding | AxisEncoding | None:
        """Return the encoding of a tensor or constant, if it has one."""
        return self.parameters.get(name) or self.activations.get(name)

    def activation(self, name: str, where: str = "") -> Encoding:
        """Return the encoding of an activation; HexsimError, beginning with `where`, if none."""
        if name not in self.activations:
            raise HexsimError(
                f"{where}tensor '{name}' has no encoding; quantise the model with inputs that "
                "reach it"
            )
        return self.activations[name]

    def data_type(self, name: str) -> str | None:
        """Return the data type of a tensor or constant in SNPE's words (uFxp_8), if it is set."""
        encoding = self.encoding(name)
        if encoding is None:
            return f"Float_{self.floats[name]}" if name in self.floats else None
        return f"{'u' if encoding.dtype.kind == 'u' else 's'}Fxp_{encoding.bitwidth}"

    def codes(self, name: str) -> npt.NDArray[np.integer]:
        """Return the codes of a constant that has an encoding, from the file or else computed.

        They are cached as long as the caller refers to them.
        """
        assert self.encoding(name) is not None, f"constant '{name}' has no encoding"
        return self._coded(name).value()

    def _coded(self, name: str) -> Constant:
        encoding = self.parameters.get(name) if self.float_weights else None
        if encoding is None:
            return self.stored(name)
        if name not in self._codes:
            self._codes[name] = _codes_of(self.stored(name), encoding)
        return self._codes[name]

    def stored(self, name: str) -> Constant:
        """Return a constant as a file stores it: as codes, as float16, or unchanged."""
        if name in self.stored_constants:
            return self.stored_constants[name]
        if name not in self._stored:
            constant, encoding = self.network.constants[name], self._stored_encoding(name)
            if encoding is not None:
                constant = _codes_of(constant, encoding)
            elif self.floats.get(name) == 16:
                constant = constant.derive(constant.shape, _as_float16_array, dtype="float16")
            self._stored[name] = constant
        return self._stored[name]

    def _stored_encoding(self, name: str) -> Encoding | AxisEncoding | None:
        return None if self.float_weights and name in self.parameters else self.encoding(name)

    @cached_property
    def as_stored(self) -> Network:
        """The network with the values that are read back from its file."""
        if not self.quantized:
            return self.network
        constants = {
            name: restored(self.stored(name), constant.dtype, self._stored_encoding(name))
            for name, constant in self.network.constants.items()
        }
        return replace(self.network, constants=constants)

    @cached_property
    def as_coded(self) -> Network:
        """The network with the values of its codes, which fixed-point runtimes compute with."""
        if not self.float_weights:
            return self.as_stored
        constants = {
            name: restored(self._coded(name), constant.dtype, self.encoding(name))
            for name, constant in self.network.constants.items()
        }
        return replace(self.network, constants=constants)

    def rounded(self, name: str, values: FloatArray) -> FloatArray:
        """Return real `values` as tensor `name` can represent them."""
        encoding = self.encoding(name)
        if encoding is not None:
            return encoding.dequantize(encoding.quantize(values))
        return as_float16(values) if self.floats.get(name) == 16 else values

    def packing(self, name: str) -> Runs | None:
        """How the codes of a constant are packed in a file, None if they are not."""
        encoding = None if self.float_weights else self.parameters.get(name)
        if encoding is None or encoding.bitwidth != 4 or not self.packs_weights:
            return None
        return "channel" if isinstance(encoding, AxisEncoding) else "tensor"

    @cached_property
    def weight_bytes(self) -> int:
        """Bytes of all parameters in a file; those without encoding are floats or int32."""
        return sum(self.stored_bytes(name) for name in self.network.weights)

    def stored_bytes(self, name: str) -> int:
        """Return the bytes of a constant in a file."""
        constant, runs = self.network.constants[name], self.packing(name)
        if runs is not None:
            return packed_bytes(constant.shape, runs)
        return constant.elements * np.dtype(self.stored(name).dtype).itemsize


def _codes_of(constant: Constant, encoding: Encoding | AxisEncoding) -> Constant:
    def codes() -> npt.NDArray[np.generic]:
        return encoding.quantize(constant.finite().astype(np.float32, copy=False))

    return Constant(constant.name, constant.shape, codes, encoding.dtype.name, kept=False)


def _as_float16_array(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    return values.astype(np.float16)


def restored(
    stored: Constant, dtype: str, encoding: Encoding | AxisEncoding | None = None
) -> Constant:
    """Return a constant of type `dtype` with the real values of a stored constant."""
    if encoding is not None:
        return stored.derive(stored.shape, encoding.dequantize, dtype=dtype)
    if stored.dtype != dtype:
        return stored.derive(stored.shape, lambda values: values.astype(dtype), dtype=dtype)
    return stored


def require_float(model: Model) -> Network:
    """Return the network if it is float; raise HexsimError if it is quantised already."""
    if model.quantized:
        raise HexsimError(
            f"network '{model.name}' is quantised already; give the float network that it was made "
            "from"
        )
    return model.network
