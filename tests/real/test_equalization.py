"""Equalization and bias correction on trained networks of other people.

The files are not part of this repository; the tests are skipped where they are absent.
"""

from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.scores import class_scores
from hexsim.graph.ir import Network
from hexsim.inputs.seeded import seeded_calibration
from hexsim.inputs.stored import stored_inputs
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.equalization import equalize, without_relu6
from hexsim.quantization.model import require_float
from hexsim.quantization.optimizations import Optimization, quantize_optimized
from tests.deployed import deployed

FILES = {
    "kws_dscnn": "kws_dscnn/kws_dscnn.onnx",
    "resnet8": "resnet8_cifar10/resnet8_cifar10.onnx",
    "vww": "vww_mobilenetv1_025_96/vww_mobilenetv1_025_96.onnx",
}


def _load(folder: Path, name: str) -> Network:
    return class_scores(require_float(hexsim.load(folder / FILES[name])))


@pytest.mark.parametrize("name", FILES)
def test_the_float_function_stays(real_data: Path, name: str) -> None:
    network = _load(real_data, name)
    done = equalize(network)
    assert done.chains
    reference = without_relu6(network, done.without_relu6)
    (output,) = network.outputs
    before, after = (FloatEngine(variant) for variant in (reference, done.network))
    for feed in seeded_calibration(network, 4):
        expected, got = before.run(feed)[output], after.run(feed)[output]
        assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max()


def _ratios(network: Network, feeds: list[dict[str, np.ndarray]]) -> list[float]:
    """SQNR of the scores as they are, with cle, and with cle and bc."""
    (output,) = network.outputs
    engine = FloatEngine(network)
    floats = np.stack([engine.run(feed)[output] for feed in feeds])
    choices: tuple[tuple[Optimization, ...], ...] = ((), ("cle",), ("cle", "bc"))
    sqnrs_db = []
    for chosen in choices:
        model = quantize_optimized(network, lambda: feeds, optimizations=chosen).model
        run = deployed(model).executor().run
        sqnrs_db.append(
            Distance.between(floats, np.stack([run(feed)[output] for feed in feeds])).sqnr_db
        )
    return sqnrs_db


def test_keywords_gain_by_equalization(real_data: Path) -> None:
    network = _load(real_data, "kws_dscnn")
    sounds = np.load(real_data / "kws_dscnn" / "mfcc_4x49x10.npy").astype(np.float32)
    feeds = [stored_inputs(network, {network.inputs[0]: sound[None, None]}) for sound in sounds]
    plain, equalized, corrected = _ratios(network, feeds)
    assert equalized > plain + 3
    assert corrected > equalized - 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet8", "vww"])
def test_bias_correction_brings_int8_closer_to_float(real_data: Path, name: str) -> None:
    """On noise, where rounding shifts most; on photos equalization does not help VWW.

    It brings 13.6 and 5.0 dB (with inputs rounded to the nearest code, VWW had a little more).
    """
    network = _load(real_data, name)
    _, equalized, corrected = _ratios(network, seeded_calibration(network))
    assert corrected > equalized + 4.9


def test_a_network_without_batch_norm_says_so(real_data: Path) -> None:
    done = equalize(_load(real_data, "kws_dscnn"))
    assert len(done.without_moments) == 8  # also those in front of a layer that pads
    assert not equalize(_load(real_data, "vww")).without_moments
