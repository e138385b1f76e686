"""Every tensor with an origin is in the report, in the order of the decisions."""

import json
from dataclasses import replace

from hexsim.quantization.overrides.override import KeyOutcome
from hexsim.reports.network.encodings import encodings_facts
from tests.dlc.made import small_network, with_encodings


def test_document() -> None:
    model = with_encodings(small_network())
    weight = next(iter(model.parameters))
    outcome = KeyOutcome("k", "activation", "override", "unmatched", "why")
    model = replace(model, origins={"in": "override", weight: "rule"}, overrides=(outcome,))
    document = json.loads(encodings_facts.json(model))
    assert [encoding["name"] for encoding in document["encodings"]] == ["in", weight]
    assert [encoding["section"] for encoding in document["encodings"]] == [
        "activation",
        "parameter",
    ]
    assert document["encodings"][0]["encoding"]["delta"] == model.activations["in"].delta
    assert document["overrides"] == [
        {
            "key": "k",
            "section": "activation",
            "source": "override",
            "outcome": "unmatched",
            "reason": "why",
        }
    ]
