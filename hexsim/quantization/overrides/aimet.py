"""Reads the encodings files of AIMET: versions 0.4 and older, 0.5.0, 0.6.1, 1.0.0 and 2.0.0.

Up to 0.6.1 sections map names to entries, one per channel: bitwidth, min, max, scale, offset,
is_symmetric "True", from 0.5.0 on also dtype "int"/"float" (a float needs dtype and bitwidth only).
In 1.0.0 they are lists of entries: name, enc_type, dtype "INT"/"FLOAT", bw, is_sym, scale[],
offset[]. In 2.0.0 there is one list, "encodings": name, output_dtype "int8", y_scale, y_zero_point,
axis. In 1.0.0 and 2.0.0 a weight may have blocks (LPBQ): the scales of its channels, and the whole
scales of their blocks, channel after channel.

A tensor with several entries, or with enc_type PER_CHANNEL, is encoded per channel. An integer
entry without any numbers is calibrated: the guide's full override file gives bitwidth and dtype
only. Keys that no version defines are ignored, as in the real converter; a misspelt key is
therefore reported as missing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.domains import require
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Override, Overrides, Range
from hexsim.quantization.overrides.aimet_entries import (
    Width,
    block_override,
    float_override,
    numbers,
    says_only_float,
    scale_per_block,
    tensor_encodings,
)
from hexsim.texts import tables
from hexsim.texts.tables import Table
from hexsim.texts.text import read_text, shortened
from hexsim.texts.trees import parse_json


class _ListedEntry(Table):
    name: str
    enc_type: Literal["PER_TENSOR", "PER_CHANNEL", "PER_BLOCK", "LPBQ"]
    dtype: Literal["INT", "FLOAT", "FP"] = "INT"
    bw: Width
    is_sym: bool | None = None
    scale: tuple[float, ...] = ()
    offset: tuple[float, ...] = ()
    compressed_bw: int | None = None
    block_size: int | None = None
    per_block_int_scale: tuple[Any, ...] = ()


def listed_section(section: Any, where: str) -> Mapping[str, Override]:
    """Read one section; raises HexsimError, beginning with `where`, for the first mistake."""
    if not isinstance(section, list):
        raise HexsimError(f"{where} is no list, which version 1.0.0 asks for")
    overrides: dict[str, Override] = {}
    for position, tree in enumerate(section):
        any_width = says_only_float(tree, "bw")
        with_width = {**tree, "bw": 32} if any_width else tree
        entry = tables.read(_ListedEntry, with_width, f"{where}, entry {position}")
        if entry.name in overrides:
            raise HexsimError(f"{where}: '{entry.name}' is there twice; keep one of them")
        place = f"{where}, '{entry.name}'"
        overrides[entry.name] = FloatOverride(None) if any_width else _listed(entry, place)
    return overrides


def _listed(entry: _ListedEntry, where: str) -> Override:
    if entry.dtype != "INT":
        return float_override(entry.bw, where)
    if entry.enc_type == "PER_BLOCK":
        raise scale_per_block(where)
    if entry.enc_type == "LPBQ":
        return block_override(
            where,
            bits=(entry.compressed_bw, entry.bw),
            block_size=entry.block_size,
            scales=np.array(entry.scale),
            multiples=np.array(numbers([*entry.per_block_int_scale], where, "per_block_int_scale")),
        )
    if entry.enc_type == "PER_TENSOR" and not entry.scale and not entry.offset:
        return IntegerOverride(entry.bw, (Range(),), entry.is_sym)
    if not entry.scale or len(entry.offset) not in (0, len(entry.scale)):
        raise HexsimError(
            f"{where}: {len(entry.scale)} scales and {len(entry.offset)} offsets; "
            "expected one of each, or one of each per channel"
        )
    if entry.enc_type == "PER_TENSOR" and len(entry.scale) > 1:
        raise HexsimError(f"{where}: {len(entry.scale)} scales, PER_TENSOR has one")
    if min(entry.scale) <= 0:
        raise HexsimError(f"{where}: key 'scale' holds {min(entry.scale):g}; scales are above 0")
    if not entry.offset and not entry.is_sym:
        raise HexsimError(f"{where}: key 'offset' is missing; only is_sym encodings imply it")
    offsets = entry.offset or [-float(1 << (entry.bw - 1))] * len(entry.scale)
    ranges = (Range(scale=s, offset=round(o)) for s, o in zip(entry.scale, offsets, strict=True))
    return IntegerOverride(entry.bw, tuple(ranges), entry.is_sym)


class _NamedEntry(Table):
    bitwidth: Width
    dtype: Literal["int", "float"] = "int"
    is_symmetric: Literal["True", "False", "true", "false"] | bool | None = None
    min: float | None = None
    max: float | None = None
    scale: Annotated[float, Meta(gt=0)] | None = None
    offset: float | None = None

    @property
    def unranged(self) -> bool:
        """Return True if the entry has no numbers, as in the guide's full override file."""
        return self.min is self.max is self.scale is self.offset is None

    @property
    def symmetric(self) -> bool | None:
        """Return the flag as a truth value, or None."""
        return None if self.is_symmetric is None else str(self.is_symmetric).lower() == "true"


def named_section(section: Any, where: str) -> Mapping[str, Override]:
    """Read one section; raises HexsimError, beginning with `where`, for the first mistake."""
    if not isinstance(section, dict):
        raise HexsimError(f"{where} is no object of names; is the version of the file right?")
    overrides: dict[str, Override] = {}
    for name, entries in section.items():
        if isinstance(entries, dict) and entries.keys() & {"input", "output"}:
            raise HexsimError(
                f"{where}, '{name}': encodings by layer, not by tensor; give the .encodings file "
                "for ONNX that AIMET writes beside the _torch one"
            )
        if not isinstance(entries, list) or not entries:
            raise HexsimError(f"{where}, '{name}': expected a list with one entry, or per channel")
        overrides[name] = _named(entries, f"{where}, '{name}'")
    return overrides


def _named(entries: list[Any], where: str) -> Override:
    if all(says_only_float(entry, "bitwidth") for entry in entries):
        return FloatOverride(None)
    read = [
        tables.read(_NamedEntry, entry, f"{where}, entry {place}")
        for place, entry in enumerate(entries)
    ]
    first = read[0]
    if any(
        (e.bitwidth, e.dtype, e.symmetric) != (first.bitwidth, first.dtype, first.symmetric)
        for e in read
    ):
        raise HexsimError(f"{where}: bitwidth, dtype and is_symmetric differ between channels")
    if first.dtype == "float":
        return float_override(first.bitwidth, where)
    if all(entry.unranged for entry in read):
        return IntegerOverride(first.bitwidth, (Range(),) * len(read), first.symmetric)
    ranges = []
    for position, entry in enumerate(read):
        place = f"{where}, entry {position}"
        if (entry.min is None) != (entry.max is None) or (entry.min is None and not entry.scale):
            missing_key = "min" if entry.min is None else "max"
            raise HexsimError(f"{place}: key '{missing_key}' is missing; expected a number")
        if entry.min is not None and entry.max is not None and entry.min > entry.max:
            raise HexsimError(f"{place}: min {entry.min:g} is above max {entry.max:g}")
        if entry.min is None and entry.offset is None:
            raise HexsimError(f"{place}: key 'offset' is missing; a scale alone is no encoding")
        offset = None if entry.offset is None else round(entry.offset)
        ranges.append(Range(entry.min, entry.max, entry.scale, offset))
    return IntegerOverride(first.bitwidth, tuple(ranges), first.symmetric)


ACTIVATIONS, PARAMETERS = "activation_encodings", "param_encodings"
"""The two sections of every version but 2.0.0."""

VERSIONS = ("0.4.0", "0.5.0", "0.6.1", "1.0.0", "2.0.0")
"""Versions that are read; a file without version counts as the first."""


def read_aimet(path: str | Path) -> Overrides:
    """Read the encodings file at `path`.

    Raises HexsimError naming file, section, tensor and key (or line) of the first mistake.
    """
    where = f"overrides '{path}'"
    document = _document(Path(path), where)
    version = str(document.get("version", VERSIONS[0]))
    if version not in VERSIONS and _is_newer(version):
        raise HexsimError(
            f"{where}: version {shortened(version)} is not known; export the encodings with one of "
            f"{', '.join(VERSIONS)}"
        )
    if version == "2.0.0":
        return _checked(Overrides(unassigned=tensor_encodings(document, where)), where)
    read = listed_section if version == "1.0.0" else named_section
    sections = {}
    for section in (ACTIVATIONS, PARAMETERS):
        if section not in document:
            raise HexsimError(
                f"{where}: section '{section}' is missing; it may be empty but must be there"
            )
        sections[section] = read(document[section], f"{where}, {section}")
    return _checked(Overrides(sections[ACTIVATIONS], sections[PARAMETERS]), where)


def _checked(overrides: Overrides, where: str) -> Overrides:
    """Return `overrides`; HexsimError for the first whose numbers are none of an encoding."""
    unassigned = {name: each.override for name, each in overrides.unassigned.items()}
    for name, override in (
        *overrides.activations.items(),
        *overrides.parameters.items(),
        *unassigned.items(),
    ):
        try:
            require(override)
        except InvalidDataError as error:
            raise HexsimError(f"{where}, '{name}': {error}") from None
    return overrides


def _document(path: Path, where: str) -> dict[str, Any]:
    text = read_text(path, "overrides", "give the JSON file that AIMET exports")
    document = parse_json(text, where)
    if not isinstance(document, dict):
        raise HexsimError(f"{where} is no JSON object with the sections of an encodings file")
    return document


_DIGITS = 9
"""Most digits that a number of a version may have."""


def _is_newer(version: str) -> bool:
    """Return True if an unlisted version may have other entries than the listed ones."""
    parts = version.split(".")
    if not all(part.isdecimal() and len(part) <= _DIGITS for part in parts):
        return True
    return tuple(int(part) for part in parts) > (0, 6, 1)
