"""The results of a sweep as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hexsim.studies.sweep.effects import Effects
from hexsim.studies.sweep.table import Swept


def sweep_json(
    swept: Swept, rows: Sequence[int], figures: Sequence[str], effects: Sequence[Effects]
) -> str:
    """Return the front with all columns, and the parts of the variance of each figure."""
    document = {
        "hexsim_version": swept.version,
        "space": swept.space.model_dump(mode="json", exclude_none=True),
        "points": swept.table.num_rows,
        "varied": list(swept.varied),
        "figures": list(figures),
        "front": swept.table.take(list(rows)).to_pylist(),
        "effects": [
            {
                "figure": effect.result,
                "spread": effect.spread,
                "alone": effect.alone,
                "together": [
                    {"parameters": list(pair), "part": part}
                    for pair, part in effect.together.items()
                ],
            }
            for effect in effects
        ],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
