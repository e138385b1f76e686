"""A validation as JSON, and as CSV: one row per tensor, in network order."""

from dataclasses import asdict

from hexsim.accuracy.classification import Hits
from hexsim.accuracy.study import Study
from hexsim.accuracy.validation import Validation
from hexsim.quantization.finding import Finding
from hexsim.reports.document import Record


def _hits(hits: Hits, validation: Validation) -> dict[str, int]:
    """Return the counts; those against labels only with labels, winners only with classes."""
    counts = asdict(hits)
    if validation.labelled:
        return counts
    return {
        key: counts[key] for key in (("inputs", "same_top1") if validation.classes else ("inputs",))
    }


output_facts = Record(
    "An output as it is compared, and its SQNR over all inputs; the worst decides.",
    "tensor sqnr_db negligible",
)

finding_facts = Record(
    "A loss that is certain: of values by encodings, or of time by HTA sections.", Finding
)

_original = Record(
    "The comparison with the float network before its weights were equalised.",
    {"hits": lambda validation: _hits(validation.original.hits, validation)},
    "output_sqnr_db=original.output_sqnr_db",
    {"outputs": ("original.outputs", [output_facts])},
)

_finding = Record(
    "A cause, and the SQNR with its remedy.",
    ("cause", "kind tensor finding remedy"),
    "remedied_db",
)

_diagnosis = Record(
    "A layer that loses accuracy, and its SQNR if it alone is quantised.",
    "layer type alone_db",
    {"findings": ("findings", [_finding])},
)

_distribution = Record(
    "Counts of the float values of a tensor, bin by bin, each `bin_width` wide.",
    ("row", "layer tensor sqnr_db clipped"),
    "encoding first_bin=histogram.low bin_width=histogram.width",
    {"counts": lambda distribution: distribution.histogram.counts.tolist()},
)

validation_facts = Record(
    "What validate found; layers are in network order.",
    "network chip runtime notes",
    {"hits": lambda study: _hits(study.validation.hits, study.validation)},
    "output_sqnr_db=validation.output_sqnr_db output_sqnr_reference=validation.reference",
    "output_notes=validation.notes",
    {
        "outputs": ("validation.outputs", [output_facts]),
        "before_equalization": (
            lambda study: study.validation if study.validation.original else None,
            _original,
        ),
    },
    "layers=validation.layers rescaled_weights=validation.rescaled",
    {"findings": ("findings", [finding_facts])},
    "sensitivity",
    {"diagnoses": ("diagnoses", [_diagnosis]), "distributions": ("distributions", [_distribution])},
    "remedies",
)


_row = Record(
    "A tensor, with its SQNR if only its layer, or all but it, is quantised.",
    (
        "0",
        "layer type tensor runtime sqnr_db cosine max_error added_noise",
        "encoding_min=encoding.min encoding_max=encoding.max seen_min=low seen_max=high",
        {"clipped": lambda row: row.clipped if row.encoding else None},
    ),
    "only_db=1.only_db others_db=1.others_db",
)


def validation_csv(study: Study) -> str:
    """Return the layers as CSV text; the last two columns are filled by a sensitivity study."""
    ranked = {row.layer: row for row in study.sensitivity.layers} if study.sensitivity else {}
    return _row.csv((row, ranked.get(row.layer)) for row in study.validation.layers)
