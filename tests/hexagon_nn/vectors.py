"""What Hexagon NN computed, case by case: the judge of the contract's arithmetic.

Hexagon NN (public, BSD; the release of the V60 to V66 era) was run on an emulator of Hexagon
instructions. The files under `vectors/` hold the inputs and the output codes; there is no code of
the library in them. Names begin with the architecture that the library was built for.

Encodings are pairs (delta, zero point). Activations are (1, height, width, channels), uint8.
"""

from __future__ import annotations

import collections
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "vectors"

Case = dict[str, np.ndarray]
"""Arrays by name: `x` or `a` and `b`, their encodings, and `library`, the codes to reach."""


def operators() -> list[str]:
    """Names of all sets of cases, such as "v60_add"."""
    return sorted(file.stem for file in FOLDER.glob("*.npz"))


def cases(name: str) -> list[Case]:
    """All cases of a set, in their order."""
    grouped: dict[str, Case] = collections.defaultdict(dict)
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as stored:
        for key in stored.files:
            number, array = key.split("_", 1)
            grouped[number][array] = stored[key]
    return [grouped[number] for number in sorted(grouped)]
