"""A validation of the network with a fault in `c2`."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.experiments import try_remedies
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.validation import validate
from hexsim.results.validation import RemedyTrial, Validation
from hexsim.studies.validation import diagnosis_of, document_of, sensitivity_of
from hexsim.texts.fields import taken
from tests.accuracy import culprits
from tests.deployed import deployed


@cache
def study(asked: bool = True) -> Validation:
    """With labels, sensitivity and explanations, or without."""
    model, feeds = culprits.quantized("outlier"), culprits.inputs()
    labels = [(n,) for n in (1, 2, 3, 4, 5, 6)] if asked else None
    compared = validate(deployed(model), feeds, labels=labels)
    answer = document_of(deployed(model), compared, ("a note",))
    answer = replace(answer, graph=culprits.network("outlier"))
    if not asked:
        return answer
    judge = OutputJudge(deployed(model.network), feeds)
    explained = diagnose(deployed(model), compared.layers, ["c2", "c0"], feeds)
    tried = try_remedies(model, compared.layers, judge)
    return replace(
        answer,
        sensitivity=sensitivity_of(deployed(model), judge, lambda done, total: None),
        diagnoses=tuple(map(diagnosis_of, explained)),
        remedies=tuple(taken(RemedyTrial, trial) for trial in tried),
    )
