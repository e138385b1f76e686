"""The operator models that onnx ships for judging backends, through reader, passes and writer.

onnxruntime on the untouched model is the judge. Nothing but a `HexsimError` may be raised, and
whatever loads gives the same numbers.
"""

import collections
import warnings

import numpy as np
import onnxruntime
import pytest

from hexsim.errors import HexsimError
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its generators divide by zero on purpose
    from onnx.backend.test.case.node import collect_testcases

TRAINING = {"test_training_dropout", "test_training_dropout_default"}  # random by definition


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_model_that_loads_gives_the_same_numbers() -> None:
    counts: collections.Counter[str] = collections.Counter()
    different = []
    for case in collect_testcases(None):
        try:
            network = optimize(read(case.model))
            network.check()
        except HexsimError:
            counts["refused"] += 1
            continue
        feed, expected = _judge(case)
        if expected is None:
            counts["not run by onnxruntime"] += 1
            continue
        try:
            results = FloatEngine(network).run(
                {n: network.tensors[n].from_source(feed[n]) for n in network.inputs}
            )
        except HexsimError:
            counts["refused"] += 1
            continue
        same = all(
            _same(network.tensors[name].to_source(results[name]), want)
            for name, want in expected.items()
        )
        counts["same" if same else "different"] += 1
        if not same:
            different.append(case.name)
    assert set(different) <= TRAINING, counts
    assert counts["same"] > 900, counts


def _judge(case):
    """The first set of inputs, and what onnxruntime answers; None where it cannot run it."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    names = [value.name for value in case.model.graph.input]
    inputs, _ = case.data_sets[0]
    feed = {name: np.asarray(array) for name, array in zip(names, inputs, strict=False)}
    try:
        session = onnxruntime.InferenceSession(
            case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        outputs = session.run(None, feed)
    except Exception:  # onnxruntime has many, and no common base
        return feed, None
    return feed, dict(zip((o.name for o in case.model.graph.output), outputs, strict=True))


def _same(got, want) -> bool:
    if got.shape != want.shape:
        return False
    return np.allclose(got.astype(float), want.astype(float), 1e-3, 1e-4, equal_nan=True)
