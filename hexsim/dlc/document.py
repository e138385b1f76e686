"""The entries `model` and `dlc.metadata`: a network without its weights, and its origin.

`model` is JSON; mean images are entries beside it. `dlc.metadata` has `key=value` lines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hexsim import budget
from hexsim.dlc.archive import HTA_PREFIX, MEAN_PREFIX, MODEL
from hexsim.dlc.trees import from_tree, to_tree
from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Sizes
from hexsim.graph.ir import Layer, Tensor
from hexsim.graph.network_ends import CodedEnd, InputFormat
from hexsim.quantization.encodings import AxisEncoding, Encoding, FloatBits, Runs, packed_bytes
from hexsim.quantization.evidence import NO_EVIDENCE, Evidence
from hexsim.quantization.model import GraphRecord, HtaSection, Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.records import dataclass, field, fields, replace
from hexsim.texts.text import decoded, visible
from hexsim.texts.trees import parse_json


@dataclass(frozen=True)
class StoredArray:
    """A constant: its type in the network, and its form in `model.params`.

    `dtype` is its numpy type in the network, `stored` that of the bytes in the file, little
    endian: the same, that of its codes, or float16. With `packing` 4-bit codes share bytes, in one
    run per tensor or per channel. Arrays follow one another without gaps.
    """

    name: str
    shape: Sizes
    dtype: str
    stored: str
    sha256: str
    packing: Runs | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Number of bytes in the file."""
        if self.packing is not None:
            return packed_bytes(self.shape, self.packing)
        return self.elements * self.stored_dtype.itemsize

    @property
    def stored_dtype(self) -> np.dtype[np.generic]:
        """Type of the bytes in the file."""
        return np.dtype(self.stored).newbyteorder("<")


@dataclass(frozen=True)
class Encodings:
    """The encodings of a quantised network.

    `origins` describes the origin of each encoding. `equalized` is true if cross-layer equalization
    was applied before. `floats` has the number of bits of tensors that stay float. With
    `float_weights` the arrays of parameters are floats in spite of their encodings. `evidence` are
    the losses that calibration proved.
    """

    activations: Mapping[str, Encoding]
    parameters: Mapping[str, Encoding | AxisEncoding]
    origins: Mapping[str, str] = field(default_factory=dict)
    equalized: bool = False
    floats: Mapping[str, FloatBits] = field(default_factory=dict)
    float_weights: bool = False
    evidence: Evidence = NO_EVIDENCE

    def of(self, name: str) -> Encoding | AxisEncoding | None:
        """Return the encoding of a tensor or constant, if it has one."""
        return self.parameters.get(name) or self.activations.get(name)

    def of_codes(self, name: str) -> Encoding | AxisEncoding | None:
        """Return the encoding of a constant whose array contains codes."""
        return None if self.float_weights and name in self.parameters else self.of(name)


@dataclass(frozen=True)
class StoredSection:
    """An HTA section: the chip it was compiled for, its layers, and the entry with its record."""

    chip: str
    layers: tuple[str, ...]
    entry: str


@dataclass(frozen=True)
class DlcDocument:
    """The description of a network without the bytes of its constants."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: tuple[Tensor, ...]
    layers: tuple[Layer, ...]
    arrays: tuple[StoredArray, ...]
    encodings: Encodings | None
    overrides: Overrides = NO_OVERRIDES
    input_formats: Mapping[str, InputFormat] = field(default_factory=dict)
    hta: tuple[StoredSection, ...] = ()
    coded_ends: Mapping[str, CodedEnd] = field(default_factory=dict)
    graphs: tuple[GraphRecord, ...] = ()

    @classmethod
    def of(
        cls, model: Model, arrays: tuple[StoredArray, ...], overrides: Overrides = NO_OVERRIDES
    ) -> DlcDocument:
        """Describe `model`, whose constants are stored as `arrays`."""
        network, encodings = model.network, None
        if model.quantized:
            encodings = Encodings(
                model.activations,
                model.parameters,
                model.origins,
                model.equalized,
                model.floats,
                model.float_weights,
                model.evidence,
            )
        return cls(
            network.name,
            network.inputs,
            network.outputs,
            tuple(network.tensors.values()),
            network.layers,
            arrays,
            encodings,
            overrides,
            network.input_formats,
            tuple(_stored(model.hta)) if model.quantized else (),
            network.coded_ends,
            model.graphs,
        )

    def to_bytes(self) -> bytes:
        """Return the JSON text."""
        return json.dumps(to_tree(self), allow_nan=False, separators=(",", ":")).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> DlcDocument:
        """Parse the text of `to_bytes`; InvalidDataError names the first mistake."""
        text = decoded(data, f"entry '{MODEL}'")
        tree = parse_json(text, f"entry '{MODEL}'")
        _require_few_ends(tree)
        document = from_tree(cls, tree)
        assert isinstance(document, DlcDocument)
        return document


def _require_few_ends(tree: Any) -> None:
    """Raise HexsimError for more inputs or outputs than a network may have."""
    if isinstance(tree, dict):
        name_lists = (tree.get("inputs"), tree.get("outputs"))
        count = sum(len(names) for names in name_lists if isinstance(names, list))
        budget.require(budget.ENDS, count, f"entry '{MODEL}'")


def _stored(sections: tuple[HtaSection, ...]) -> Iterator[StoredSection]:
    for number, section in enumerate(sections):
        yield StoredSection(section.chip, section.layers, f"{HTA_PREFIX}{section.chip}.{number}")


def entry_name(index: int) -> str:
    """Return the name of the entry for the mean image of an input."""
    return f"{MEAN_PREFIX}{index}"


def mean_entries(
    inputs: tuple[str, ...], formats: Mapping[str, InputFormat]
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each entry, in the order of `inputs`."""
    for index, name in enumerate(inputs):
        steps = formats[name].pictures if name in formats else None
        if steps is not None and steps.mean_image is not None:
            yield entry_name(index), steps.mean_image.data


def with_mean_images(
    inputs: tuple[str, ...], formats: Mapping[str, InputFormat], entries: Mapping[str, bytes]
) -> dict[str, InputFormat]:
    """Return `formats` with the bytes of mean images from `entries`; none where one is missing."""
    filled = dict(formats)
    for index, name in enumerate(inputs):
        form = formats.get(name)
        if form is not None and form.pictures is not None and form.pictures.mean_image is not None:
            data = entries.get(entry_name(index), b"")
            image = replace(form.pictures.mean_image, data=data)
            filled[name] = replace(form, pictures=replace(form.pictures, mean_image=image))
    return filled


@dataclass(frozen=True)
class Metadata:
    """The keys of the real container, with underscores for its hyphens."""

    model_version: str = "N/A"
    converter_command: str = "N/A"
    converter_version: str = "N/A"
    quantizer_command: str = "N/A"

    @property
    def had_overrides(self) -> bool:
        """True if the file was converted with a file of overrides, even if that was empty."""
        name = f" {self.converter_command} ".partition(" quantization_overrides=")[2]
        return bool(name) and not name.startswith("None ")

    def to_bytes(self) -> bytes:
        """Return one UTF-8 line per key; a line break inside a value becomes a space."""
        lines = (
            f"{item.name.replace('_', '-')}={getattr(self, item.name)}" for item in fields(self)
        )
        text = "".join(line.replace("\n", " ") + "\n" for line in lines)
        return text.encode("utf-8", "backslashreplace")

    @classmethod
    def from_bytes(cls, data: bytes) -> Metadata:
        """Parse the text of `to_bytes`; special characters in values become visible.

        Raises InvalidDataError for an invalid line.
        """
        field_names = {f.name.replace("_", "-"): f.name for f in fields(cls)}
        values: dict[str, str] = {}
        try:
            lines = data.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise InvalidDataError("its metadata are no text in UTF-8") from None
        for number, line in enumerate(lines, start=1):
            key, sign, value = line.partition("=")
            if line and not (sign and key in field_names and field_names[key] not in values):
                raise InvalidDataError(f"line {number} of its metadata is {line[:40]!r}")
            if line:
                values[field_names[key]] = visible(value)
        return cls(**values)
