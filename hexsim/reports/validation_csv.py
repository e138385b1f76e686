"""A validation as CSV: one row per tensor, in network order."""

from __future__ import annotations

import csv
import io

from hexsim.accuracy.study import Study

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
    ranked = {row.layer: row for row in study.sensitivity.layers} if study.sensitivity else {}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for row in study.validation.layers:
        encoding, rank = row.encoding, ranked.get(row.layer)
        writer.writerow(
            (
                *(row.layer, row.type, row.tensor, row.runtime),
                *(row.sqnr_db, row.cosine, row.max_error, row.added_noise),
                *((encoding.min, encoding.max) if encoding else ("", "")),
                *(row.low, row.high),
                row.clipped if encoding else "",
                *((rank.only_db, rank.others_db) if rank else ("", "")),
            )
        )
    return text.getvalue()
