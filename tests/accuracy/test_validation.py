"""Validation: what one pass over the inputs counts.

Counts of the values of the tensors that lose most, against those of all inputs at once.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from hexsim.accuracy.distance import Distance
from hexsim.accuracy.paired_run import PairedRun
from hexsim.accuracy.validation import BINS, MOST, distributions, validate
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.passes.resizing import resized
from hexsim.quantization.observation import Histogram
from tests.accuracy import culprits
from tests.deployed import deployed, planned
from tests.dlc.made import with_weights
from tests.entry_points import places
from tests.entry_points.examples import SIZED_BY_VALUES, examples
from tests.entry_points.places import Place
from tests.int8.single_layer import SIGNED
from tests.small_networks import Sketch


def test_labels_that_are_the_float_winners() -> None:
    model, feeds = culprits.quantized(), culprits.inputs()
    engine = FloatEngine(model.network)
    labels = [(int(np.argmax(engine.run(feed)["scores"])),) for feed in feeds]
    done: list[int] = []
    validation = validate(deployed(model), iter(feeds), labels=labels, progress=done.append)
    assert validation.labelled
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
    assert not validate(deployed(network, "cpu"), [feed]).ranked
    assert validate(deployed(culprits.network(), "cpu"), culprits.inputs(1)).ranked


def test_a_float_runtime_is_float() -> None:
    validation = validate(deployed(culprits.network(), "cpu"), culprits.inputs(2))
    assert validation.output_sqnr_db > 100.0 or math.isinf(validation.output_sqnr_db)
    assert not validation.labelled


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
    assert validation.notes == ("'y': compared before 'places' (NonZero +2), on 's'",)
    assert 30 < validation.output_sqnr_db < 60, "the codes of the sigmoid"
    assert {row.tensor for row in validation.layers} == {"x", "s"}


def test_every_value_of_every_input_is_counted_once() -> None:
    deployment, feeds = deployed(culprits.quantized("outlier")), culprits.inputs()
    rows = validate(deployment, feeds).layers
    counted = distributions(deployment.network, rows, feeds)
    assert [distribution.row for distribution in counted] == sorted(
        rows, key=lambda row: row.sqnr_db
    )[:MOST]
    paired = PairedRun(deployment)
    floats = [paired.run(feed)[0] for feed in feeds]
    for distribution in counted:
        assert distribution.encoding == distribution.row.encoding
        values = np.concatenate([each[distribution.row.tensor].ravel() for each in floats])
        expected = Histogram.of(values).coarser(BINS)
        assert distribution.histogram.exponent == expected.exponent
        np.testing.assert_array_equal(distribution.histogram.counts, expected.counts)
        assert distribution.histogram.counts.sum() == values.size


def test_only_codes_with_an_error_are_counted() -> None:
    deployment, feeds = deployed(culprits.quantized("outlier")), culprits.inputs()
    first, second, *_ = validate(deployment, feeds).layers
    rows = (replace(first, encoding=None), replace(second, sqnr_db=math.inf))
    assert distributions(deployment.network, rows, feeds) == ()
    (distribution,) = distributions(deployment.network, (first, rows[1]), feeds)
    assert distribution.row == first


def test_the_padding_of_the_last_input_is_left_out() -> None:
    deployment, feeds = deployed(culprits.quantized("outlier")), culprits.inputs()
    (row,) = (row for row in validate(deployment, feeds).layers if row.tensor == "in")
    pair = [{"in": np.concatenate([feeds[0]["in"], feeds[1]["in"]])}]
    (all_of_it,) = distributions(deployment.network, (row,), pair, batch=2)
    (half,) = distributions(deployment.network, (row,), pair, batch=2, items=1)
    assert half.histogram.counts.sum() * 2 == all_of_it.histogram.counts.sum()
