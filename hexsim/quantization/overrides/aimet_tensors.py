"""The encodings of AIMET's version 2.0.0: one list, in the words of ONNX's QuantizeLinear.

Real values are y_scale * (q - y_zero_point), with q of output_dtype: "int8", "uint8", "int4" and so
on. Several scales are one per channel of `axis`. A signed type without zero points is symmetric.
A weight in blocks (LPBQ) has per_channel_float_scale and per_block_int_scale instead, nested
like the weight, and the `axis` of its blocks. "float16" or "float32" keeps floats, and so does
an entry with a name only, which AIMET writes for a float of any width.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from hexsim.errors import HexsimError
from hexsim.quantization.overrides.aimet_blocks import block_override, numbers, scale_per_block
from hexsim.quantization.overrides.aimet_entry import validated
from hexsim.quantization.overrides.override import (
    FloatOverride,
    IntegerOverride,
    Range,
    TensorOverride,
)

_SECTION = "encodings"
_INTEGER = re.compile(r"(?P<unsigned>u?)int(?P<bits>4|8|16|32)")
_FLOATS: Mapping[str, FloatOverride] = {
    "float16": FloatOverride(16),
    "float32": FloatOverride(32),
}


class _Entry(BaseModel):
    """An entry of version 2.0.0; its numbers are checked where they are used."""

    model_config = ConfigDict(allow_inf_nan=False)

    name: str
    output_dtype: str | None = None
    y_scale: Any = None
    y_zero_point: Any = None
    axis: int | None = None
    block_size: int | None = None
    per_channel_float_scale: Any = None
    per_block_int_scale: Any = None


def tensor_encodings(document: Mapping[str, Any], where: str) -> Mapping[str, TensorOverride]:
    """Read the list; raises HexsimError, beginning with `where`, for the first mistake."""
    section = document.get(_SECTION)
    if not isinstance(section, list):
        raise HexsimError(f"{where}: section '{_SECTION}' is no list, which version 2.0.0 asks for")
    overrides: dict[str, TensorOverride] = {}
    for position, tree in enumerate(section):
        entry = validated(_Entry, tree, f"{where}, entry {position}")
        if entry.name in overrides:
            raise HexsimError(f"{where}: '{entry.name}' is there twice; keep one of them")
        overrides[entry.name] = _tensor(entry, f"{where}, '{entry.name}'")
    return overrides


def _tensor(entry: _Entry, where: str) -> TensorOverride:
    if entry.output_dtype is None:
        if entry.model_fields_set > {"name"}:
            raise HexsimError(
                f"{where}: key 'output_dtype' is missing; expected a type as \"int8\""
            )
        return TensorOverride(FloatOverride(None))
    if entry.output_dtype in _FLOATS:
        return TensorOverride(_FLOATS[entry.output_dtype])
    kind = _INTEGER.fullmatch(entry.output_dtype)
    if kind is None:
        raise HexsimError(
            f"{where}: key 'output_dtype' is '{entry.output_dtype[:40]}', which no kernel "
            "computes with; expected int or uint with 4, 8, 16 or 32 bits, float16 or float32"
        )
    bits, signed = int(kind["bits"]), not kind["unsigned"]
    if entry.per_block_int_scale is not None:
        return _in_blocks(entry, bits, where)
    if entry.block_size:
        raise scale_per_block(where)
    scales = _flat(entry.y_scale, where, "y_scale")
    points = np.zeros(scales.shape)
    if entry.y_zero_point is not None:
        points = _flat(entry.y_zero_point, where, "y_zero_point")
    if scales.shape != points.shape:
        raise HexsimError(
            f"{where}: {scales.size} scales and {points.size} zero points; expected as many"
        )
    if scales.min() <= 0:
        raise HexsimError(f"{where}: key 'y_scale' holds {scales.min():g}; scales are above 0")
    if isinstance(entry.y_scale, list) and scales.size > 1 and entry.axis is None:
        raise HexsimError(f"{where}: {scales.size} scales without key 'axis'; name their axis")
    lowest = -(1 << (bits - 1)) if signed else 0
    if not ((points >= lowest) & (points < lowest + (1 << bits))).all():
        raise HexsimError(
            f"{where}: key 'y_zero_point' holds {points.min():g} to {points.max():g}, which is "
            f"outside {entry.output_dtype}"
        )
    symmetric = True if signed and not points.any() else None
    ranges = tuple(
        Range(scale=scale, offset=lowest - int(point))
        for scale, point in zip(map(float, scales), map(float, points), strict=True)
    )
    return TensorOverride(IntegerOverride(bits, ranges, symmetric), entry.axis)


def _flat(tree: Any, where: str, key: str) -> npt.NDArray[np.float64]:
    """Return a number or a flat list of numbers as an array of rank one."""
    if tree is None:
        raise HexsimError(f"{where}: key '{key}' is missing; expected a number or a list")
    array = np.array(numbers(tree, where, key), np.float64)
    if array.ndim != 1 or not array.size:
        raise HexsimError(f"{where}: key '{key}' is nested or empty; expected one per channel")
    return array


def _in_blocks(entry: _Entry, bits: int, where: str) -> TensorOverride:
    """Read a weight in blocks, whose scales are nested with the blocks on `axis`."""
    multiples = np.array(
        numbers(entry.per_block_int_scale, where, "per_block_int_scale"), np.float64
    )
    scales = np.array(
        numbers(entry.per_channel_float_scale or [], where, "per_channel_float_scale"), np.float64
    )
    axis = entry.axis
    if axis is None or not -multiples.ndim <= axis < multiples.ndim or multiples.ndim < 2:
        raise HexsimError(
            f"{where}: key 'axis' is {axis}; expected that of the blocks in per_block_int_scale, "
            "which is nested like the weight"
        )
    return TensorOverride(
        block_override(
            where,
            bits=(bits, 2 * bits),
            block_size=entry.block_size,
            scales=scales,
            multiples=np.moveaxis(multiples, axis, -1),
        ),
        axis,
    )
