"""A study of the network with a fault in `c2`."""

from __future__ import annotations

from functools import cache

from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.sensitivity import sensitivity
from hexsim.accuracy.study import Study
from hexsim.accuracy.validation import validate
from tests.accuracy import culprits


@cache
def study(asked: bool = True) -> Study:
    """With labels, sensitivity and explanations, or without."""
    model, feeds = culprits.quantized("outlier"), culprits.inputs()
    labels = [1, 2, 3, 4, 5, 6] if asked else None
    found = validate(model, feeds, "dsp", signed_weights=False, labels=labels)
    ranked = explained = None
    if asked:
        ranked = sensitivity(model, feeds, "dsp", signed_weights=False)
        explained = diagnose(model, found.layers, ["c2", "c0"], feeds, signed_weights=False)
    return Study("broken", "sd835", "dsp", ("a note",), found, ranked, explained)
