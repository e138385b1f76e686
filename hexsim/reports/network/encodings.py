"""The origin of every encoding and the outcome of every override, as JSON."""

from __future__ import annotations

from hexsim.quantization.model import Model
from hexsim.reports.document import json_document


def encodings_json(model: Model) -> str:
    """Return origin and encoding of each tensor, and each override, as a JSON document.

    A bias at the accumulator's scale has an origin but neither encoding nor data type (null). A
    tensor that stays float has no encoding.
    """
    weights = model.network.weights
    encodings = [
        {
            "name": name,
            "section": "parameter" if name in weights else "activation",
            "origin": origin,
            "data_type": model.data_type(name),
            "encoding": model.encoding(name),
        }
        for name, origin in model.origins.items()
    ]
    document = {
        "network": model.name,
        "overrides": model.overrides,
        "findings": model.findings,
        "encodings": encodings,
    }
    return json_document(document)
