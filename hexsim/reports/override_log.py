"""What became of each override, and where the encodings came from, in the quantiser's log style."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hexsim.quantization.model import Model


def override_log(model: Model) -> Iterator[str]:
    """Yield a line per key, in the order of its file, and one that sums up; none without keys."""
    for told in model.overrides:
        level = "INFO" if told.outcome == "applied" else "WARNING"
        reason = f": {told.reason}" if told.reason else ""
        yield f"[{level}] {told.source} of {told.section} '{told.key}' {told.outcome}{reason}"
    if model.overrides:
        counts = Counter(told.outcome for told in model.overrides)
        yield (
            f"[INFO] Overrides: {counts['applied']} applied, {counts['ignored']} ignored, "
            f"{counts['unmatched']} unmatched"
        )
        origins = Counter(_without_name(origin) for origin in model.origins.values())
        yield f"[INFO] Encodings: {', '.join(f'{n} {o}' for o, n in origins.most_common())}"


def unused_line(count: int) -> str:
    """Say that there are overrides which nobody asked to apply."""
    return f"[WARNING] the file holds {count} overrides; give --override-params to use them"


def _without_name(origin: str) -> str:
    if origin.startswith("as layer '"):
        return "float as their layer is"
    return "that of a layer's input" if origin.startswith("that of '") else origin
