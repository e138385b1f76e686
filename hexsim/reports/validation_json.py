"""A validation as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from hexsim import __version__
from hexsim.accuracy.classification import Hits
from hexsim.accuracy.diagnosis import Diagnosis
from hexsim.accuracy.distributions import Distribution
from hexsim.accuracy.study import Study
from hexsim.accuracy.validation import Validation


def validation_json(study: Study) -> str:
    """Return all of `study` as a JSON document."""
    return json.dumps(validation_facts(study), indent=1, allow_nan=False) + "\n"


def validation_facts(study: Study) -> dict[str, Any]:
    """Return all of `study` as data; layers in network order, infinite numbers as None."""
    found, ranked = study.validation, study.sensitivity
    document: dict[str, Any] = {
        "hexsim_version": __version__,
        "network": study.network,
        "chip": study.chip,
        "runtime": study.runtime,
        "notes": study.notes,
        "hits": _hits(found.hits, found),
        "output_sqnr_db": found.output_sqnr_db,
        "output_notes": found.notes,
        "before_equalization": _original(found),
        "layers": [asdict(row) for row in found.layers],
        "rescaled_weights": [asdict(loss) for loss in found.rescaled],
        "findings": [asdict(finding) for finding in study.findings],
        "sensitivity": None if ranked is None else asdict(ranked),
        "diagnoses": study.diagnoses and [_diagnosis(d) for d in study.diagnoses],
        "distributions": study.distributions and [_distribution(d) for d in study.distributions],
        "remedies": study.remedies and [asdict(trial) for trial in study.remedies],
    }
    finite: dict[str, Any] = _finite(document)
    return finite


def _hits(hits: Hits, found: Validation) -> dict[str, Any]:
    """The counts; those against labels only if there are some, winners only of classes."""
    counts = asdict(hits)
    if found.labelled:
        return counts
    return {key: counts[key] for key in (("inputs", "same_top1") if found.classes else ("inputs",))}


def _original(found: Validation) -> dict[str, Any] | None:
    """How the runtime compares with the float network before it was equalised, if it was."""
    if found.original is None:
        return None
    return {
        "hits": _hits(found.original.hits, found),
        "output_sqnr_db": found.original.output_sqnr_db,
    }


def _distribution(found: Distribution) -> dict[str, Any]:
    """Counts of float values, bin by bin from `first_bin` on, each `bin_width` wide."""
    row, histogram = found.row, found.histogram
    return {
        "layer": row.layer,
        "tensor": row.tensor,
        "sqnr_db": row.sqnr_db,
        "clipped": row.clipped,
        "encoding": asdict(found.encoding),
        "first_bin": histogram.low,
        "bin_width": histogram.width,
        "counts": histogram.counts.tolist(),
    }


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    return {
        "layer": found.layer,
        "type": found.type,
        "alone_db": found.alone_db,
        "findings": [
            {
                "kind": finding.cause.kind,
                "tensor": finding.cause.tensor,
                "finding": finding.cause.finding,
                "remedy": finding.cause.remedy,
                "remedied_db": finding.remedied_db,
            }
            for finding in found.findings
        ],
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
