"""A validation as CSV: one row per tensor, in network order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hexsim.accuracy.study import Study
from hexsim.reports.csv_text import csv_text

HEADER = (
    "layer",
    "type",
    "tensor",
    "runtime",
    "sqnr_db",
    "cosine",
    "max_error",
    "added_noise",
    "encoding_min",
    "encoding_max",
    "seen_min",
    "seen_max",
    "clipped",
    "only_db",
    "others_db",
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
