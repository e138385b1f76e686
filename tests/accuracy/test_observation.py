"""Inputs that are compared side by side say what they say one by one, to the last bit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import hexsim
from hexsim.accuracy import observation
from hexsim.accuracy.observation import Counted, Observed, Observer
from hexsim.accuracy.validation import validate
from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.execution.execution_contexts import contexts_for
from hexsim.runtimes import Runtime
from tests import mixed
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.execution.test_plan_executor import _feeds, quantize
from tests.execution.test_plan_executor import network as fallback_network  # noqa: F401
from tests.studies.test_validation import pairs


@pytest.fixture
def always() -> Iterator[None]:
    """Deal inputs out however small the network is."""
    with patch.object(observation, "_LEAST", 0):
        yield


def _validated(deployment: Deployment, feeds: Any, threads: int, **asked: Any) -> str:
    return repr(asdict(validate(deployment, feeds, threads=threads, **asked)))


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("runtime", ["dsp", "gpu", "cpu"])
def test_validation_is_the_same_on_any_number_of_threads(runtime: Runtime) -> None:
    model, feeds = culprits.quantized("outlier"), culprits.inputs(9)
    deployment, labels = deployed(model, runtime, "sd855"), [(at, 9 - at) for at in range(9)]
    for count in (1, 2, 9):
        of_one = _validated(deployment, feeds[:count], 1, labels=labels[:count])
        for threads in (2, 3):
            of_several = _validated(deployment, feeds[:count], threads, labels=labels[:count])
            assert of_several == of_one


@pytest.mark.usefixtures("always")
def test_batches_labels_and_the_network_before_equalisation() -> None:
    model, source = pairs(culprits.quantized())
    asked: dict[str, Any] = {
        "original": replace(culprits.network("outlier"), tensors=model.network.tensors),
        "labels": [(index,) for index in range(9)],
        "batch": 2,
        "items": 9,
    }
    single, two = (_validated(deployed(model), source.feeds(), n, **asked) for n in (1, 2))
    assert single == two


@pytest.mark.usefixtures("always")
def test_with_fallbacks_and_float_layers(fallback_network: Any) -> None:  # noqa: F811
    feeds = _feeds(fallback_network, 5)
    for deployment, inputs in (
        (deployed(quantize(fallback_network, feeds)), feeds),
        (deployed(mixed.mixed()), mixed.feeds(5)),
    ):
        single, two = (_validated(deployment, inputs, threads) for threads in (1, 2))
        assert single == two


@pytest.mark.usefixtures("always")
def test_a_run_of_inputs_is_what_each_says(fallback_network: Any) -> None:  # noqa: F811
    feeds = _feeds(fallback_network, 5)
    deployment = deployed(quantize(fallback_network, feeds))
    given = [Counted(feed, 1) for feed in feeds]

    def shown(observed: Observed) -> str:
        with np.printoptions(threshold=10**6, floatmode="unique"):
            return repr(asdict(observed))

    whole = [Observer(deployment, 1, None, threads).observe(given) for threads in (1, 2)]
    assert shown(whole[0]) == shown(whole[1])


@pytest.mark.usefixtures("always")
def test_an_error_comes_behind_all_that_was_found() -> None:
    feeds = mixed.feeds(5)
    feeds[3] = {"in": feeds[3]["in"][:, :2]}
    done: list[int] = []
    with pytest.raises(HexsimError):
        validate(deployed(mixed.mixed()), feeds, threads=2, progress=done.append)
    assert done == [1, 2, 3]
    assert not any(thread.name.startswith("hexsim-context") for thread in threading.enumerate())


def test_small_networks_are_compared_one_by_one() -> None:
    for name, contexts in (("ds_cnn_s", 1), ("squeezenet1_1", 2)):
        network = hexsim.load(name).network
        visits = len(network.tensors)
        assert contexts_for(network, 2, least=observation._LEAST, visits=visits) == contexts
