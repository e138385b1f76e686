"""Sections of AIMET's encodings files of version 1.0.0: lists of entries with a name.

An entry of LPBQ has the scales of its channels, and the whole scales of their blocks, channel
after channel.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from hexsim.errors import HexsimError
from hexsim.quantization.overrides.aimet_blocks import block_override, numbers, scale_per_block
from hexsim.quantization.overrides.aimet_entry import (
    WIDTH,
    float_override,
    says_only_float,
    validated,
)
from hexsim.quantization.overrides.override import (
    FloatOverride,
    IntegerOverride,
    Override,
    Range,
)


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
