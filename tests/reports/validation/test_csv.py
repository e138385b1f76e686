"""The CSV of a validation has a row per tensor and numbers that read back exactly."""

import csv
import io

from hexsim.reports.validation.data import validation_csv
from tests.reports.studies import study


def test_rows_in_network_order() -> None:
    rows = list(csv.DictReader(io.StringIO(validation_csv(study()))))
    errors = study().validation.layers
    assert [row["tensor"] for row in rows] == [error.tensor for error in errors]
    assert [float(row["sqnr_db"]) for row in rows] == [error.sqnr_db for error in errors]
    ranked = {row.layer: row.only_db for row in study().sensitivity.layers}  # type: ignore[union-attr]
    assert {r["layer"]: float(r["only_db"]) for r in rows if r["only_db"]} == ranked


def test_columns_of_sensitivity_are_empty_without_it() -> None:
    rows = csv.DictReader(io.StringIO(validation_csv(study(asked=False))))
    assert {(row["only_db"], row["others_db"]) for row in rows} == {("", "")}
