"""Reads the encodings files of AIMET: versions 0.4 and older, 0.5.0, 0.6.1 and 1.0.0.

| version | sections | an entry |
| --- | --- | --- |
| none, 0.4.0 | name -> entries | bitwidth, min, max, scale, offset, is_symmetric "True" |
| 0.5.0 | same | also dtype "int"/"float"; a float needs dtype and bitwidth only |
| 0.6.1 | same | same; quantizer_args beside the sections, which change no tensor |
| 1.0.0 | lists of entries | name, enc_type, dtype "INT"/"FLOAT", bw, is_sym, scale[], offset[] |

More than one entry, or enc_type PER_CHANNEL, is per channel. Keys that no version defines are
passed over, as the real converter does; a misspelt one shows as a missing one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hexsim.errors import HexsimError
from hexsim.quantization.overrides.override import (
    FloatOverride,
    IntegerOverride,
    Override,
    Overrides,
    Range,
)
from hexsim.validation import sentence

ACTIVATIONS, PARAMETERS = "activation_encodings", "param_encodings"
"""The two sections of every version."""

VERSIONS = ("0.4.0", "0.5.0", "0.6.1", "1.0.0")
"""Versions that are read; a file without version counts as the first."""

_Model = TypeVar("_Model", bound=BaseModel)

_WIDTH = Field(ge=4, le=32)
"""Bits that AIMET allows (documented)."""


class _Entry(BaseModel):
    """An entry of versions up to 0.6.1."""

    model_config = ConfigDict(allow_inf_nan=False)

    bitwidth: int = _WIDTH
    dtype: Literal["int", "float"] = "int"
    is_symmetric: Literal["True", "False", "true", "false"] | bool | None = None
    min: float | None = None
    max: float | None = None
    scale: float | None = Field(None, gt=0)
    offset: float | None = None

    @property
    def symmetric(self) -> bool | None:
        """The flag as what it means."""
        return None if self.is_symmetric is None else str(self.is_symmetric).lower() == "true"


class _ListedEntry(BaseModel):
    """An entry of version 1.0.0."""

    model_config = ConfigDict(allow_inf_nan=False)

    name: str
    enc_type: Literal["PER_TENSOR", "PER_CHANNEL", "PER_BLOCK"]
    dtype: Literal["INT", "FLOAT"] = "INT"
    bw: int = _WIDTH
    is_sym: bool | None = None
    scale: list[float] = []
    offset: list[float] = []


def read_aimet(path: str | Path) -> Overrides:
    """Read the encodings file at `path`.

    Raises HexsimError naming file, section, tensor and key (or line) of the first mistake.
    """
    where = f"overrides '{path}'"
    document = _document(Path(path), where)
    version = str(document.get("version", VERSIONS[0]))
    if version not in VERSIONS and _is_newer(version):
        raise HexsimError(
            f"{where}: version {version} is not known; export the encodings with one of "
            f"{', '.join(VERSIONS)}"
        )
    read = _listed_section if version == "1.0.0" else _named_section
    sections = {}
    for section in (ACTIVATIONS, PARAMETERS):
        if section not in document:
            raise HexsimError(
                f"{where}: section '{section}' is missing; it may be empty but must be there"
            )
        sections[section] = read(document[section], f"{where}, {section}")
    return Overrides(sections[ACTIVATIONS], sections[PARAMETERS])


def _document(path: Path, where: str) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise HexsimError(f"no such file: '{path}'") from None
    except UnicodeDecodeError:
        raise HexsimError(f"{where} is no text; give the JSON file that AIMET exports") from None
    except OSError as error:
        raise HexsimError(f"cannot read '{path}': {error.strerror}") from None
    try:
        document = json.loads(text, object_pairs_hook=_unique(where))
    except json.JSONDecodeError as error:
        raise HexsimError(
            f"{where}, line {error.lineno}: {error.msg}; repair the JSON or export it again"
        ) from None
    except RecursionError:
        raise HexsimError(f"{where} is nested too deeply to be an encodings file") from None
    if not isinstance(document, dict):
        raise HexsimError(f"{where} is no JSON object with the sections of an encodings file")
    return document


def _unique(where: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """A hook for objects: `json` itself would keep the last of two equal keys and say nothing."""

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise HexsimError(f"{where}: key '{twice}' is there twice; keep one of them")
        return found

    return collect


def _is_newer(version: str) -> bool:
    """True unless the version is an unlisted one that has the entries of a listed one."""
    parts = version.split(".")
    if not all(part.isdecimal() for part in parts):
        return True
    return tuple(int(part) for part in parts) > (0, 6, 1)


def _named_section(section: Any, where: str) -> Mapping[str, Override]:
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
    read = [_validated(_Entry, one, f"{where}, entry {n}") for n, one in enumerate(entries)]
    first = read[0]
    if any(
        (e.bitwidth, e.dtype, e.symmetric) != (first.bitwidth, first.dtype, first.symmetric)
        for e in read
    ):
        raise HexsimError(f"{where}: bitwidth, dtype and is_symmetric differ between channels")
    if first.dtype == "float":
        return _float(first.bitwidth, where)
    ranges = []
    for position, entry in enumerate(read):
        place = f"{where}, entry {position}"
        if (entry.min is None) != (entry.max is None) or (entry.min is None and not entry.scale):
            lost = "min" if entry.min is None else "max"
            raise HexsimError(f"{place}: key '{lost}' is missing; expected a number")
        if entry.min is not None and entry.max is not None and entry.min > entry.max:
            raise HexsimError(f"{place}: min {entry.min:g} is above max {entry.max:g}")
        if entry.min is None and entry.offset is None:
            raise HexsimError(f"{place}: key 'offset' is missing; a scale alone is no encoding")
        offset = None if entry.offset is None else round(entry.offset)
        ranges.append(Range(entry.min, entry.max, entry.scale, offset))
    return IntegerOverride(first.bitwidth, tuple(ranges), first.symmetric)


def _listed_section(section: Any, where: str) -> Mapping[str, Override]:
    if not isinstance(section, list):
        raise HexsimError(f"{where} is no list, which version 1.0.0 asks for")
    overrides: dict[str, Override] = {}
    for position, tree in enumerate(section):
        entry = _validated(_ListedEntry, tree, f"{where}, entry {position}")
        if entry.name in overrides:
            raise HexsimError(f"{where}: '{entry.name}' is there twice; keep one of them")
        overrides[entry.name] = _listed(entry, f"{where}, '{entry.name}'")
    return overrides


def _listed(entry: _ListedEntry, where: str) -> Override:
    if entry.dtype == "FLOAT":
        return _float(entry.bw, where)
    if entry.enc_type == "PER_BLOCK":
        raise HexsimError(
            f"{where}: a scale per block (PER_BLOCK) fits no kernel of the DSP; export the "
            "encoding PER_TENSOR or PER_CHANNEL"
        )
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


def _float(bitwidth: int, where: str) -> FloatOverride:
    match bitwidth:
        case 16 | 32:
            return FloatOverride(bitwidth)
        case _:
            raise HexsimError(f"{where}: floats have 16 or 32 bits, not {bitwidth}")


def _validated(model: type[_Model], tree: Any, where: str) -> _Model:
    if not isinstance(tree, dict):
        raise HexsimError(f"{where}: expected an object with the keys of an encoding")
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise HexsimError(sentence(model, error, where)) from None
