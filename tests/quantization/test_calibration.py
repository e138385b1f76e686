"""Observations are those of all values of all inputs, histograms only on request."""

import numpy as np

from hexsim.quantization.calibration import observe
from hexsim.quantization.observation import Histogram
from tests.dlc.made import small_network


def test_observations_equal_those_of_all_values_at_once() -> None:
    rng = np.random.default_rng(5)
    inputs = [{"in": rng.normal(0, s, (1, 8, 8, 3)).astype(np.float32)} for s in (1, 9, 0.1)]
    network = small_network()
    seen = observe(network, inputs, with_histograms=True)
    assert set(seen) == set(network.tensors)
    everything = np.stack([input_["in"] for input_ in inputs])
    expected = Histogram.of(everything)
    histogram = seen["in"].histogram
    assert histogram is not None
    assert (histogram.exponent, histogram.first) == (expected.exponent, expected.first)
    np.testing.assert_array_equal(histogram.counts, expected.counts)
    assert (seen["in"].low, seen["in"].high) == (everything.min(), everything.max())
    plain = observe(network, inputs)
    assert {name: (observed.low, observed.high) for name, observed in plain.items()} == {
        name: (observed.low, observed.high) for name, observed in seen.items()
    }
    assert all(observed.histogram is None for observed in plain.values())
