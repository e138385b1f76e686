"""The outcome of each override and the origins of the encodings, as the quantiser's log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hexsim.quantization.model import Model


def override_log(model: Model) -> Iterator[str]:
    """Yield a line per key, in the order of its file, and a summary; nothing without keys."""
    for override in model.overrides:
        level = "INFO" if override.outcome == "applied" else "WARNING"
        reason = f": {override.reason}" if override.reason else ""
        key = f"{override.source} of {override.section} '{override.key}'"
        yield f"[{level}] {key} {override.outcome}{reason}"
    if model.overrides:
        counts = Counter(override.outcome for override in model.overrides)
        yield (
            f"[INFO] Overrides: {counts['applied']} applied, {counts['ignored']} ignored, "
            f"{counts['unmatched']} unmatched"
        )
        origins = Counter(_without_name(origin) for origin in model.origins.values())
        parts = (f"{count} {origin}" for origin, count in origins.most_common())
        yield f"[INFO] Encodings: {', '.join(parts)}"


def unused_line(count: int) -> str:
    """Return a warning about overrides that no option applies."""
    return f"[WARNING] the file holds {count} overrides; give --override-params to use them"


def no_overrides_line(file: str) -> str:
    """Return a warning about an empty file of overrides."""
    return f"[WARNING] the overrides that '{file}' was converted with are empty; all is calibrated"


def _without_name(origin: str) -> str:
    if origin.startswith("as layer '"):
        return "float as their layer is"
    return "that of a layer's input" if origin.startswith("that of '") else origin
