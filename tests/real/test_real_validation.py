"""The accuracy debugger on trained networks of other people and their real inputs."""

from pathlib import Path

import pytest

from benchmarks import real_networks
from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.experiments import try_remedies
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.validation import validate
from hexsim.quantization.quantizer import quantize
from hexsim.results.validation import most_added
from tests.deployed import deployed


@pytest.mark.slow
def test_digits_are_counted_right_on_both_sides(real_data: Path) -> None:
    real = real_networks.mnist(real_data)
    model = quantize(real.network, real.calibration)
    labels = [tuple(label) for label in real.labels]
    hits = validate(deployed(model), real.inputs, labels=labels).hits
    assert hits.inputs == 5000
    assert hits.float_top1 > 4900
    assert abs(hits.float_top1 - hits.runtime_top1) <= 10
    assert hits.same_top1 > 4950


def test_per_channel_weights_help_the_autoencoder(real_data: Path) -> None:
    """Trained fully connected layers with weight outliers and dead channels."""
    real = real_networks.autoencoder(real_data)
    feeds = real.calibration
    model = quantize(real.network, feeds)
    errors = validate(deployed(model), feeds).layers
    names = [row.layer for row in most_added(errors)[:5]]
    diagnoses = diagnose(deployed(model), errors, names, feeds)
    kinds = {diagnosis.findings[0].kind for diagnosis in diagnoses}
    assert kinds == {"range outlier channel", "dead channel", "one range for all channels"}
    judge = OutputJudge(deployed(real.network), feeds)
    trials = try_remedies(model, errors, judge)
    alone = next(t for t in trials if len(t.remedies) == 1 and "axis_weights=True" in t.remedies[0])
    assert alone.after_db > alone.before_db + 6.0
