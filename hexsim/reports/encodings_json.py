"""The origin of every encoding and the outcome of every override, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from hexsim import __version__
from hexsim.quantization.model import Model


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
            "encoding": asdict(encoding) if (encoding := model.encoding(name)) else None,
        }
        for name, origin in model.origins.items()
    ]
    document = {
        "hexsim_version": __version__,
        "network": model.name,
        "overrides": [asdict(override) for override in model.overrides],
        "findings": [asdict(finding) for finding in model.findings],
        "encodings": encodings,
    }
    return json.dumps(document, indent=1) + "\n"
