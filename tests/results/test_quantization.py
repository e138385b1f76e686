"""Every tensor with an origin is in the report, in the order of the decisions."""

import json
from dataclasses import replace

from hexsim.quantization.overrides import KeyOutcome
from hexsim.results.quantization import Quantization, Score, quantization_of
from tests.dlc.made import small_network, with_encodings


def test_document() -> None:
    model = with_encodings(small_network(), axis=True)
    weight = next(iter(model.parameters))
    outcome = KeyOutcome("k", "activation", "override", "unmatched", "why")
    model = replace(model, origins={"in": "override", weight: "rule"}, overrides=(outcome,))
    report = quantization_of(model, Score(chip="sd855", runtime="dsp", refusal="why"))
    document = json.loads(report.to_json())
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
    read = Quantization.from_json(report.to_json())
    assert read == report
    assert read.encodings[1].encoding == model.parameters[weight]
