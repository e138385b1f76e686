"""The encodings of AIMET's version 2.0.0: one list, in the words of ONNX's QuantizeLinear.

Real values are y_scale * (q - y_zero_point), with q of output_dtype: "int8", "uint8", "int4" and so
on. Several scales are one per channel of `axis`. A signed type without zero points is symmetric.
A weight in blocks (LPBQ) has per_channel_float_scale and per_block_int_scale instead, nested
like the weight, and the `axis` of its blocks. "float16" or "float32" keeps floats, and so does
an entry with a name only, which AIMET writes for a float of any width.

Reads the blocks of a weight from AIMET's encodings: LPBQ, with whole scales of the blocks.

Checks that the entries of all versions of AIMET's encodings files share.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from hexsim.errors import HexsimError
from hexsim.quantization.overrides import (
    BlockOverride,
    FloatOverride,
    IntegerOverride,
    Range,
    TensorOverride,
)
from hexsim.texts.tables import Table, read

_BITS = (2, 4)
_LARGEST_MULTIPLE = 1 << 8


def scale_per_block(where: str) -> HexsimError:
    """Return the error for a weight with a real scale per block."""
    return HexsimError(
        f"{where}: a real scale per block (PER_BLOCK) fits no kernel, which adds the products of "
        "all blocks of a channel before it scales them; export the encoding as LPBQ (whole scales "
        "of blocks), PER_CHANNEL or PER_TENSOR"
    )


def numbers(tree: Any, where: str, key: str) -> list[Any]:
    """Return a list of numbers or of equal lists of them; raises HexsimError for all else."""
    values = tree if isinstance(tree, list) else [tree]
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not np.isfinite(array).all() or any(isinstance(value, str | bool) for value in values):
        raise HexsimError(f"{where}: key '{key}' is not a number or a list of numbers")
    return values


def block_override(
    where: str,
    *,
    bits: tuple[int | None, int],
    block_size: int | None,
    scales: npt.NDArray[np.float64],
    multiples: npt.NDArray[np.float64],
) -> BlockOverride:
    """Return the override of a weight in blocks; raises HexsimError that begins with `where`.

    `bits` are those of a code and of a decompressed one; `multiples` has the whole scales of the
    blocks, channel after channel.
    """
    compressed, decompressed = bits
    if compressed not in _BITS:
        raise HexsimError(
            f"{where}: codes of {compressed} bits in blocks (LPBQ); expected "
            f"{' or '.join(map(str, _BITS))} bits"
        )
    if not block_size or block_size < 1:
        raise HexsimError(f"{where}: key 'block_size' is {block_size}; expected a size above 0")
    if not scales.size or not multiples.size:
        raise HexsimError(
            f"{where}: a weight in blocks (LPBQ) needs a scale per channel and a whole scale per "
            "block (per_block_int_scale)"
        )
    if scales.min() <= 0:
        raise HexsimError(f"{where}: a scale is {scales.min():g}; scales are above 0")
    most = 1 << (decompressed - compressed)
    whole = (multiples == np.floor(multiples)).all()
    if not whole or multiples.min() < 1 or multiples.max() > min(most, _LARGEST_MULTIPLE):
        raise HexsimError(
            f"{where}: key 'per_block_int_scale' holds {multiples.min():g} to {multiples.max():g}; "
            f"expected whole numbers from 1 to {most}, so that codes fit {decompressed} bits"
        )
    return BlockOverride(
        compressed,
        decompressed,
        block_size,
        tuple(scales.reshape(-1).tolist()),
        tuple(multiples.reshape(-1).astype(int).tolist()),
    )


Width = Annotated[int, Meta(ge=4, le=32)]
"""Bits that AIMET allows (documented)."""


def says_only_float(tree: Any, width: str) -> bool:
    """Return True if an entry requests floats without the key `width`, which states their bits."""
    if not isinstance(tree, dict) or width in tree:
        return False
    return str(tree.get("dtype")).lower() == "float"


def float_override(bitwidth: int, where: str) -> FloatOverride:
    """Return the override of a tensor that stays float; raises HexsimError for other widths."""
    match bitwidth:
        case 16 | 32:
            return FloatOverride(bitwidth)
        case _:
            raise HexsimError(f"{where}: floats have 16 or 32 bits, not {bitwidth}")


_SECTION = "encodings"
_INTEGER = re.compile(r"(?P<unsigned>u?)int(?P<bits>4|8|16|32)")
_FLOATS: Mapping[str, FloatOverride] = {"float16": FloatOverride(16), "float32": FloatOverride(32)}


class _Entry(Table):
    """An entry of version 2.0.0; its numbers are checked where they are used."""

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
        entry = read(_Entry, tree, f"{where}, entry {position}")
        if entry.name in overrides:
            raise HexsimError(f"{where}: '{entry.name}' is there twice; keep one of them")
        overrides[entry.name] = _tensor(entry, f"{where}, '{entry.name}'")
    return overrides


def _tensor(entry: _Entry, where: str) -> TensorOverride:
    if entry.output_dtype is None:
        if entry != _Entry(name=entry.name):
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
