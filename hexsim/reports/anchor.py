"""What was measured on a phone, with which a result was calibrated, as data."""

from typing import Any

from hexsim.reports.document import Record


def _causes(anchor: Any) -> dict[str, Any]:
    return {name: cause.model_dump(exclude_none=True) for name, cause in anchor.causes.items()}


anchor_keys = Record(
    "What a tensor processor was calibrated with (`anchor`), its error and its factors.",
    {
        "anchor": lambda result: result.anchor and str(result.anchor),
        "anchor_error": ("anchor", Record("", "share=error", {"causes": _causes})),
        "anchor_classes": lambda result: getattr(result.anchor, "classes", None),
    },
)
"""The keys of any result that has an `anchor`."""
