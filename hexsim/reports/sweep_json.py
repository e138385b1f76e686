"""What a sweep found, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hexsim.studies.sweep.effects import Effects
from hexsim.studies.sweep.table import Swept


def sweep_json(
    swept: Swept, rows: Sequence[int], figures: Sequence[str], found: Sequence[Effects]
) -> str:
    """The front with all columns, and the parts of the variance of each figure."""
    told = {
        "hexsim_version": swept.version,
        "space": swept.space.model_dump(mode="json", exclude_none=True),
        "points": swept.table.num_rows,
        "varied": list(swept.varied),
        "figures": list(figures),
        "front": swept.table.take(list(rows)).to_pylist(),
        "effects": [
            {
                "figure": one.result,
                "spread": one.spread,
                "alone": one.alone,
                "together": [
                    {"parameters": list(pair), "part": part} for pair, part in one.together.items()
                ],
            }
            for one in found
        ],
    }
    return json.dumps(told, indent=2, allow_nan=False) + "\n"
