"""Compared by workers equals that of one process to the last bit, whoever works and dies."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from hexsim.accuracy.validation import validate
from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.inputs.source import InMemory, InputSource, listed, seeded
from hexsim.passes.network_inputs import resized
from hexsim.quantization.model import Model
from hexsim.results.validation import Validation
from hexsim.runtimes import Runtime
from hexsim.studies.processes import Processes, processes
from hexsim.studies.validation import validate_sharded
from tests.accuracy import culprits
from tests.deployed import deployed


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.slow), 2])
def pool(request: pytest.FixtureRequest) -> Iterator[Processes]:
    with processes(request.param) as started:
        yield started


def single(deployment: Deployment, source: InputSource, **asked: Any) -> Validation:
    return validate(deployment, source.feeds(), batch=source.batch, items=source.items, **asked)


def pairs(model: Model) -> tuple[Model, InputSource]:
    """The model with batches of two, and nine items for it, so that the last batch is padded."""
    (name,) = model.network.inputs
    source = model.network.tensors[name].source_shape
    batched = replace(model, network=resized(model.network, {name: (2, *source[1:])}))
    items = [feed[name][0] for feed in culprits.inputs(9)]
    items.append(items[-1])
    feeds = [{name: np.stack(items[at : at + 2])} for at in range(0, 10, 2)]
    return batched, InputSource(InMemory(feeds), 9, 2, "pairs")


@pytest.mark.parametrize("runtime", ["dsp", "gpu", "cpu"])
def test_every_figure_is_equal(pool: Processes, runtime: Runtime) -> None:
    model, feeds = culprits.quantized("outlier"), culprits.inputs(9)
    deployment, source = deployed(model, runtime, "sd855"), seeded(feeds, model.network)
    labels = [(index, 9 - index) for index in range(9)]
    done: list[int] = []
    validation = validate_sharded(pool, deployment, source, labels=labels, progress=done.append)
    expected = single(deployment, source, labels=labels)
    assert repr(structs.asdict(validation)) == repr(structs.asdict(expected))
    assert validation.hits.inputs == 9
    assert done == sorted(done)
    assert done[-1] == 9


def test_batches_labels_and_the_network_before_equalisation(pool: Processes) -> None:
    model, source = pairs(culprits.quantized())
    original = replace(culprits.network("outlier"), tensors=model.network.tensors)
    labels = [(index,) for index in range(9)]
    deployment = deployed(model)
    validation = validate_sharded(pool, deployment, source, labels=labels, original=original)
    expected = single(deployment, source, labels=labels, original=original)
    assert validation.before_equalization is not None
    assert repr(structs.asdict(validation)) == repr(structs.asdict(expected))
    assert validation.before_equalization.hits.inputs == 9


@pytest.mark.slow
def test_a_float_model_is_quantized_once_and_here(pool: Processes) -> None:
    network, feeds = culprits.network(), culprits.inputs(3)
    deployment = deployed(network, "dsp", "sd855").run_on(lambda: feeds)
    source = seeded(feeds, deployment.network)
    validation = validate_sharded(pool, deployment, source)
    assert repr(validation) == repr(single(deployment, source))
    assert validation.hits.float_top1 is None


@pytest.mark.slow
def test_a_worker_that_dies_loses_nothing(pool: Processes) -> None:
    model = culprits.quantized()
    deployment, source = deployed(model), seeded(culprits.inputs(40), model.network)
    killed: list[int] = []

    def kill_one(done: int) -> None:
        if not killed:
            killed.append(pool.pids[0])
            os.kill(killed[0], signal.SIGKILL)

    validation = validate_sharded(pool, deployment, source, progress=kill_one)
    assert killed
    assert repr(validation) == repr(single(deployment, source))


@pytest.mark.slow
def test_an_input_that_cannot_be_read_is_reported_as_in_one_process(
    pool: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = culprits.quantized()
    for index, feed in enumerate(culprits.inputs(3)):
        feed["in"].tofile(f"{index}.raw")
    Path("list.txt").write_text("0.raw\n1.raw\n2.raw\n")
    source = listed(Path("list.txt"), model.network)
    deployment = deployed(model)
    validation = validate_sharded(pool, deployment, source)
    assert repr(validation) == repr(single(deployment, source)), "the workers are in another folder"
    Path("1.raw").unlink()
    with pytest.raises(HexsimError, match=r"list 'list.txt', line 2: cannot read '.*1.raw'"):
        validate_sharded(pool, deployment, source)
