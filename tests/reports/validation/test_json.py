"""The JSON of a validation is JSON and holds the study's own numbers."""

import json
import math
from dataclasses import replace

from hexsim.accuracy.output_errors import OutputError
from hexsim.reports.validation.data import validation_facts
from tests.reports.studies import study


def test_all_of_a_study() -> None:
    document, studied = json.loads(validation_facts.json(study())), study()
    assert document["hits"]["float_top1"] == studied.validation.hits.float_top1
    assert document["output_sqnr_db"] == studied.validation.output_sqnr_db
    assert [row["layer"] for row in document["layers"]] == ["in", "c0", "c1", "c2", "c3", "fc"]
    row, error = document["layers"][3], studied.validation.layers[3]
    assert (row["sqnr_db"], row["cosine"]) == (error.sqnr_db, error.cosine)
    assert row["encoding"]["delta"] == error.encoding.delta  # type: ignore[union-attr]
    assert document["sensitivity"]["layers"][0]["layer"] == "c2"
    finding = document["diagnoses"][0]["findings"][0]
    assert (finding["kind"], finding["tensor"]) == ("range outlier channel", "c2.w")
    assert finding["remedy"] in document["remedies"][0]["remedies"]


def test_what_was_not_asked_is_null_and_infinity_too() -> None:
    studied = study(asked=False)
    outputs = (OutputError("scores"),)
    exact = replace(studied, validation=replace(studied.validation, outputs=outputs))
    assert exact.validation.output_sqnr_db == math.inf
    document = json.loads(validation_facts.json(exact))
    assert document["hits"].keys() == {"inputs", "same_top1"}
    assert document["output_sqnr_db"] is None
    assert document["outputs"] == [{"tensor": "scores", "sqnr_db": None, "negligible": False}]
    assert document["sensitivity"] is None
    assert document["diagnoses"] is None
