"""Counts of the values of the tensors that lose most, against those of all inputs at once."""

import math
from dataclasses import replace

import numpy as np

from hexsim.accuracy.distributions import BINS, MOST, distributions
from hexsim.accuracy.paired_run import PairedRun
from hexsim.accuracy.validation import validate
from hexsim.quantization.histogram import Histogram
from tests.accuracy import culprits
from tests.deployed import deployed


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
