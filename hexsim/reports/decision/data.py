"""A decision as JSON and CSV."""

from collections.abc import Iterable

from hexsim.reports.anchor import anchor_keys
from hexsim.reports.document import Record
from hexsim.reports.validation import finding_facts, output_facts
from hexsim.studies.decision import Decision, DecisionCandidate, TriedChange
from hexsim.studies.decision.ranking import rule


def _ranked(decision: Decision) -> Iterable[tuple[int, DecisionCandidate]]:
    return enumerate(decision.ranked, start=1)


choice_facts = Record(
    "A choice that is within the limits, the best first.",
    "rank=0",
    (
        "1",
        "mode=mode.name quantizer_words=mode.words float_tensors=mode.floats chip stack runtime",
        "cut=timed.cut hta_partitions=timed.sections total_inference_us=timed.total_us",
        "low_us=drawn.low_us high_us=drawn.high_us forward_propagate_us=timed.forward_us",
        "initialisation_us=timed.init_us parameter_bytes=timed.file_bytes",
        "peak_bytes=timed.peak_bytes energy_mj=timed.energy_mj energy_low_mj=timed.energy_low_mj",
        "energy_high_mj=timed.energy_high_mj inputs=accuracy.inputs same_top1=accuracy.same_top1",
        "runtime_top1=accuracy.runtime_top1 loss_points=loss sqnr_db=accuracy.sqnr_db in_front",
    ),
)

_lists = {
    "outputs": ("1.accuracy.outputs", [output_facts]),
    "findings": ("1.accuracy.findings", [finding_facts]),
}

decision_facts = Record(
    "What decide found; unknown values are null.",
    (
        "decision",
        "network",
        anchor_keys,
        "vtcm_mb inputs=items notes prefer",
        {"rule": lambda decision: rule(decision.prefer)},
        "limits float_top1",
        {"choices": (_ranked, [Record(choice_facts.about, choice_facts, _lists)])},
        "sure",
        {"changes": ("changes", [Record("A change that was tried.", TriedChange, "gain")])},
        "ruled_out",
    ),
    "commands",
    results="decision commands",
)


def decision_csv(decision: Decision) -> str:
    """Return a row per choice, best first."""
    return choice_facts.csv(_ranked(decision))
