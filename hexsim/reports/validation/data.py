"""A validation as JSON, and as CSV: one row per tensor, in network order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hexsim.accuracy.classification import Hits
from hexsim.accuracy.diagnosis import Diagnosis
from hexsim.accuracy.distributions import Distribution
from hexsim.accuracy.study import Study
from hexsim.accuracy.validation import Validation
from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import attributes, json_document, plain


def validation_json(study: Study) -> str:
    """Return all of `study` as a JSON document."""
    return json_document(validation_facts(study))


def validation_facts(study: Study) -> dict[str, Any]:
    """Return all of `study` as data; layers in network order, infinite numbers as None."""
    validation = study.validation
    document: dict[str, Any] = {
        **attributes(study, "network", "chip", "runtime", "notes"),
        "hits": _hits(validation.hits, validation),
        "output_sqnr_db": validation.output_sqnr_db,
        "output_notes": validation.notes,
        "before_equalization": _original(validation),
        "layers": validation.layers,
        "rescaled_weights": validation.rescaled,
        "findings": study.findings,
        "sensitivity": study.sensitivity,
        "diagnoses": study.diagnoses and [_diagnosis(entry) for entry in study.diagnoses],
        "distributions": study.distributions
        and [_distribution(entry) for entry in study.distributions],
        "remedies": study.remedies,
    }
    facts: dict[str, Any] = plain(document)
    return facts


def _hits(hits: Hits, validation: Validation) -> dict[str, Any]:
    """Return the counts; those against labels only with labels, winners only with classes."""
    counts = asdict(hits)
    if validation.labelled:
        return counts
    return {
        key: counts[key] for key in (("inputs", "same_top1") if validation.classes else ("inputs",))
    }


def _original(validation: Validation) -> dict[str, Any] | None:
    """Return the comparison with the float network before equalisation, if it was equalised."""
    if validation.original is None:
        return None
    return {
        "hits": _hits(validation.original.hits, validation),
        "output_sqnr_db": validation.original.output_sqnr_db,
    }


def _distribution(distribution: Distribution) -> dict[str, Any]:
    """Return counts of float values, bin by bin from `first_bin` on, each `bin_width` wide."""
    row, histogram = distribution.row, distribution.histogram
    return {
        **attributes(row, "layer", "tensor", "sqnr_db", "clipped"),
        **attributes(distribution, "encoding"),
        "first_bin": histogram.low,
        "bin_width": histogram.width,
        "counts": histogram.counts.tolist(),
    }


def _diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        **attributes(diagnosis, "layer", "type", "alone_db"),
        "findings": [
            {
                **attributes(finding.cause, "kind", "tensor", "finding", "remedy"),
                "remedied_db": finding.remedied_db,
            }
            for finding in diagnosis.findings
        ],
    }


HEADER = (
    *("layer", "type", "tensor", "runtime", "sqnr_db", "cosine", "max_error", "added_noise"),
    *("encoding_min", "encoding_max", "seen_min", "seen_max", "clipped", "only_db", "others_db"),
)


def validation_csv(study: Study) -> str:
    """Return the layers as CSV text; the last two columns are filled by a sensitivity study."""
    return csv_text(HEADER, _rows(study))


def _rows(study: Study) -> Iterator[tuple[Any, ...]]:
    ranked = {row.layer: row for row in study.sensitivity.layers} if study.sensitivity else {}
    for row in study.validation.layers:
        encoding, rank = row.encoding, ranked.get(row.layer)
        yield (
            *(row.layer, row.type, row.tensor, row.runtime),
            *(row.sqnr_db, row.cosine, row.max_error, row.added_noise),
            *((encoding.min, encoding.max) if encoding else ("", "")),
            *(row.low, row.high),
            row.clipped if encoding else "",
            *((rank.only_db, rank.others_db) if rank else ("", "")),
        )
