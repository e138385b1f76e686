"""A study of the network with a fault in `c2`."""

from __future__ import annotations

from functools import cache

from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.remedies import try_remedies
from hexsim.accuracy.sensitivity import sensitivity
from hexsim.accuracy.study import Study
from hexsim.accuracy.validation import validate
from tests.accuracy import culprits
from tests.deployed import deployed


@cache
def study(asked: bool = True) -> Study:
    """With labels, sensitivity and explanations, or without."""
    model, feeds = culprits.quantized("outlier"), culprits.inputs()
    labels = [(n,) for n in (1, 2, 3, 4, 5, 6)] if asked else None
    validation = validate(deployed(model), feeds, labels=labels)
    ranked = explained = tried = None
    if asked:
        judge = OutputJudge(deployed(model.network), feeds)
        ranked = sensitivity(model, judge)
        explained = diagnose(deployed(model), validation.layers, ["c2", "c0"], feeds)
        tried = try_remedies(model, validation.layers, judge)
    return Study("broken", "sd835", "dsp", ("a note",), validation, ranked, explained, tried)
