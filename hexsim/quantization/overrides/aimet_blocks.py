"""Reads the blocks of a weight from AIMET's encodings: LPBQ, with whole scales of the blocks."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.quantization.overrides.override import BlockOverride

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
