"""Validation: what one pass over the inputs counts.

Counts of the values of the tensors that lose most, against those of all inputs at once.

Inputs that are compared side by side say what they say one by one, to the last bit.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from msgspec import structs

import hexsim
from hexsim.accuracy import validation as compared_runs
from hexsim.accuracy.layer_errors import PairedRun
from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.validation import (
    BINS,
    MOST,
    Counted,
    Observed,
    Observer,
    answers,
    distributions,
    float_outputs,
    validate,
)
from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.execution.executors import contexts_for
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.passes.network_inputs import resized
from hexsim.quantization.observation import Histogram
from hexsim.results.accuracy import as_db
from hexsim.runtimes import Runtime
from tests import mixed
from tests.accuracy import culprits
from tests.deployed import deployed, planned
from tests.dlc.made import with_weights
from tests.entry_points import places
from tests.entry_points.examples import SIZED_BY_VALUES, examples
from tests.entry_points.places import Place
from tests.execution.test_plan_executor import _feeds, quantize
from tests.execution.test_plan_executor import network as fallback_network  # noqa: F401
from tests.int8.single_layer import SIGNED
from tests.small_networks import Sketch
from tests.studies.test_validation import pairs


def test_labels_that_are_the_float_winners() -> None:
    model, feeds = culprits.quantized(), culprits.inputs()
    engine = FloatEngine(model.network)
    labels = [(int(np.argmax(engine.run(feed)["scores"])),) for feed in feeds]
    done: list[int] = []
    validation = validate(deployed(model), iter(feeds), labels=labels, progress=done.append)
    assert validation.hits.float_top1 == validation.hits.inputs == len(feeds)
    assert validation.hits.runtime_top1 == validation.hits.same_top1
    assert done == [1, 2, 3, 4, 5, 6]
    assert validation.output_sqnr_db == validation.layers[-1].sqnr_db, (
        "the scores are the only output"
    )


def test_top_5_means_something_from_six_classes_on() -> None:
    few = Sketch((1, 4, 4, 3))
    network = with_weights(few.network(few.dense("in", 5)))
    feed = {"in": np.ones((1, 4, 4, 3), np.float32)}
    hits = validate(deployed(network, "cpu"), [feed], labels=[(1,)]).hits
    assert (hits.float_top5, hits.runtime_top5) == (None, None)
    six = validate(deployed(culprits.network(), "cpu"), culprits.inputs(1), labels=[(1,)]).hits
    assert six.float_top5 == six.runtime_top5 == 1


def test_a_float_runtime_is_float() -> None:
    validation = validate(deployed(culprits.network(), "cpu"), culprits.inputs(2))
    assert as_db(validation.output_sqnr_db) > 100.0
    assert validation.hits.float_top1 is None


def test_kernels_of_both_generations() -> None:
    """Signed weights are rounded a second time, so the two differ, as the whole network does."""
    model, (feed, *_) = culprits.quantized("outlier"), culprits.inputs()
    reference = FloatEngine(model.network).run(feed)["scores"]
    sqnrs_db = []
    for chip, kernels in (("sd835", None), ("sd855", SIGNED)):
        scores = PlanExecutor(planned(model), model, signed_kernels=kernels).run(feed)["scores"]
        sqnrs_db.append(validate(deployed(model, "dsp", chip), [feed]).output_sqnr_db)
        assert sqnrs_db[-1] == pytest.approx(Distance.between(reference, scores).sqnr_db, abs=1e-3)
    assert sqnrs_db[0] != sqnrs_db[1]


def test_batches_give_what_their_items_give() -> None:
    """Five items in batches of two, the last one padded, count as they do one by one."""
    model, feeds = culprits.quantized(), culprits.inputs(5)
    labels = [(n,) for n in (1, 2, 3, 4, 5)]
    single = validate(deployed(model), feeds, labels=labels)
    name = model.network.inputs[0]
    source = model.network.tensors[name].source_shape
    pairs = replace(model, network=resized(model.network, {name: (2, *source[1:])}))
    items = [feed[name][0] for feed in feeds] + [np.zeros_like(feeds[0][name][0])]
    batches = [{name: np.stack(items[i : i + 2])} for i in (0, 2, 4)]
    joined = validate(deployed(pairs), batches, labels=labels, batch=2, items=5)
    assert joined.hits == single.hits
    assert joined.output_sqnr_db == pytest.approx(single.output_sqnr_db, abs=1e-3)
    for layer, other in zip(joined.layers, single.layers, strict=True):
        assert (layer.low, layer.high) == pytest.approx((other.low, other.high), rel=1e-5)


def test_what_values_size_is_compared_before_it() -> None:
    (example,) = (e for e in examples() if e.name == SIZED_BY_VALUES)
    place = Place("sd855", "dsp")
    deployment = places.deployment(places.model(example, place), place)
    validation = validate(deployment, [places.feed(example)])
    assert validation.output_notes == ("'y': compared before 'places' (NonZero +2), on 's'",)
    assert 30 < validation.output_sqnr_db < 60, "the codes of the sigmoid"
    assert {row.tensor for row in validation.layers} == {"x", "s"}


def test_every_value_of_every_input_is_counted_once() -> None:
    deployment, feeds = deployed(culprits.quantized("outlier")), culprits.inputs()
    rows = validate(deployment, feeds).layers
    counted = distributions(deployment.network, rows, feeds)
    lowest = sorted(rows, key=lambda row: as_db(row.sqnr_db))[:MOST]
    assert [distribution.tensor for distribution in counted] == [row.tensor for row in lowest]
    paired = PairedRun(deployment)
    floats = [paired.run(feed)[0] for feed in feeds]
    for distribution, row in zip(counted, lowest, strict=True):
        assert distribution.encoding == row.encoding
        values = np.concatenate([each[row.tensor].ravel() for each in floats])
        expected = Histogram.of(values).coarser(BINS)
        assert (distribution.first_bin, distribution.bin_width) == (expected.low, expected.width)
        assert distribution.counts == tuple(expected.counts)
        assert sum(distribution.counts) == values.size


def test_only_codes_with_an_error_are_counted() -> None:
    deployment, feeds = deployed(culprits.quantized("outlier")), culprits.inputs()
    first, second, *_ = validate(deployment, feeds).layers
    rows = (structs.replace(first, encoding=None), structs.replace(second, sqnr_db=None))
    assert distributions(deployment.network, rows, feeds) == ()
    (distribution,) = distributions(deployment.network, (first, rows[1]), feeds)
    assert distribution.tensor == first.tensor


def test_the_padding_of_the_last_input_is_left_out() -> None:
    deployment, feeds = deployed(culprits.quantized("outlier")), culprits.inputs()
    (row,) = (row for row in validate(deployment, feeds).layers if row.tensor == "in")
    pair = [{"in": np.concatenate([feeds[0]["in"], feeds[1]["in"]])}]
    (all_of_it,) = distributions(deployment.network, (row,), pair, batch=2)
    (half,) = distributions(deployment.network, (row,), pair, batch=2, items=1)
    assert sum(half.counts) * 2 == sum(all_of_it.counts)


@pytest.fixture
def always() -> Iterator[None]:
    """Deal inputs out however small the network is."""
    with patch.object(compared_runs, "_LEAST", 0):
        yield


def _validated(deployment: Deployment, feeds: Any, threads: int, **asked: Any) -> str:
    return repr(structs.asdict(validate(deployment, feeds, threads=threads, **asked)))


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
@pytest.mark.parametrize("runtime", ["dsp", "gpu", "cpu"])
def test_answers_alone_are_those_of_the_whole_comparison(runtime: Runtime) -> None:
    network, feeds, labels = culprits.network(), culprits.inputs(5), [(at,) for at in range(5)]
    deployment = deployed(quantize(network, feeds), runtime, "sd855")
    whole, floats = (
        validate(deployment, feeds, labels=labels),
        float_outputs(deployment.network),
    )
    for _ in range(2):  # the second time the floats are known
        hits, outputs = answers(deployment, feeds, floats, labels=labels)
        assert (hits, outputs) == (whole.hits, whole.outputs)


def test_floats_are_computed_once_for_all_runtimes(monkeypatch: pytest.MonkeyPatch) -> None:
    feeds, model = culprits.inputs(), culprits.quantized()
    floats = float_outputs(model.network)
    first, _ = answers(deployed(model, "dsp", "sd835"), feeds, floats)
    monkeypatch.setattr(FloatEngine, "run", None)
    again, _ = answers(deployed(model, "fxp_cpu", "sd835"), feeds, floats)
    assert again == first


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
        assert contexts_for(network, 2, least=compared_runs._LEAST, visits=visits) == contexts
