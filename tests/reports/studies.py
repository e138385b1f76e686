"""A validation of the network with a fault in `c2`."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.experiments import sensitivity, try_remedies
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.validation import validate
from hexsim.results.validation import Validation
from tests.accuracy import culprits
from tests.deployed import deployed


@cache
def study(asked: bool = True) -> Validation:
    """With labels, sensitivity and explanations, or without."""
    model, feeds = culprits.quantized("outlier"), culprits.inputs()
    labels = [(n,) for n in (1, 2, 3, 4, 5, 6)] if asked else None
    answer = validate(deployed(model), feeds, labels=labels)
    answer = replace(answer, notes=("a note",), graph=culprits.network("outlier"))
    if not asked:
        return answer
    judge = OutputJudge(deployed(model.network), feeds)
    return replace(
        answer,
        sensitivity=sensitivity(model, judge),
        diagnoses=diagnose(deployed(model), answer.layers, ["c2", "c0"], feeds),
        remedies=try_remedies(model, answer.layers, judge),
    )
