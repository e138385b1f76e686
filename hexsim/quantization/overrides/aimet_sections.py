"""Sections of AIMET's encodings files: name -> list of entries up to version 0.6.1, lists after.

In version 1.0.0 each entry of a list has a name. An entry of LPBQ has the scales of its channels,
and the whole scales of their blocks, channel after channel.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from hexsim.errors import HexsimError
from hexsim.quantization.overrides.aimet_blocks import block_override, numbers, scale_per_block
from hexsim.quantization.overrides.aimet_entry import (
    WIDTH,
    float_override,
    says_only_float,
    validated,
)
from hexsim.quantization.overrides.override import FloatOverride, IntegerOverride, Override, Range


class _ListedEntry(BaseModel):
    """An entry of version 1.0.0."""

    model_config = ConfigDict(allow_inf_nan=False)

    name: str
    enc_type: Literal["PER_TENSOR", "PER_CHANNEL", "PER_BLOCK", "LPBQ"]
    dtype: Literal["INT", "FLOAT", "FP"] = "INT"
    bw: int = WIDTH
    is_sym: bool | None = None
    scale: list[float] = []
    offset: list[float] = []
    compressed_bw: int | None = None
    block_size: int | None = None
    per_block_int_scale: list[Any] = []


def listed_section(section: Any, where: str) -> Mapping[str, Override]:
    """Read one section; raises HexsimError, beginning with `where`, for the first mistake."""
    if not isinstance(section, list):
        raise HexsimError(f"{where} is no list, which version 1.0.0 asks for")
    overrides: dict[str, Override] = {}
    for position, tree in enumerate(section):
        any_width = says_only_float(tree, "bw")
        with_width = {**tree, "bw": 32} if any_width else tree
        entry = validated(_ListedEntry, with_width, f"{where}, entry {position}")
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
            multiples=np.array(numbers(entry.per_block_int_scale, where, "per_block_int_scale")),
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


class _NamedEntry(BaseModel):
    """An entry of versions up to 0.6.1."""

    model_config = ConfigDict(allow_inf_nan=False)

    bitwidth: int = WIDTH
    dtype: Literal["int", "float"] = "int"
    is_symmetric: Literal["True", "False", "true", "false"] | bool | None = None
    min: float | None = None
    max: float | None = None
    scale: float | None = Field(None, gt=0)
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
        validated(_NamedEntry, entry, f"{where}, entry {place}")
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
