"""Validation: what one pass over the inputs counts."""

import math

import numpy as np

from hexsim.accuracy.validation import validate
from hexsim.host.float_execution import FloatEngine
from tests.accuracy import culprits


def test_labels_that_are_the_float_winners() -> None:
    model, feeds = culprits.quantized(), culprits.inputs()
    engine = FloatEngine(model.network)
    labels = [int(np.argmax(engine.run(feed)["scores"])) for feed in feeds]
    done: list[int] = []
    found = validate(
        model, iter(feeds), "dsp", signed_weights=False, labels=labels, progress=done.append
    )
    assert found.labelled
    assert found.hits.float_top1 == found.hits.inputs == len(feeds)
    assert found.hits.runtime_top1 == found.hits.same_top1
    assert done == [1, 2, 3, 4, 5, 6]
    assert found.output_sqnr_db == found.layers[-1].sqnr_db, "the scores are the only output"


def test_a_float_runtime_is_float() -> None:
    found = validate(culprits.network(), culprits.inputs(2), "cpu", signed_weights=False)
    assert found.output_sqnr_db > 100.0 or math.isinf(found.output_sqnr_db)
    assert not found.labelled
