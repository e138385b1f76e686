"""A real network in float and on a DSP, side by side."""

import numpy as np

from benchmarks.real_networks import RealNetwork
from hexsim.accuracy.scores import class_scores
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.deployed import deployed

Array = np.ndarray


def both(
    real: RealNetwork, chip: str = "sd835", options: QuantizationOptions | None = None
) -> tuple[Array, Array]:
    """Float and int8 class scores (or outputs), a row per input; the DSP takes every layer."""
    network = class_scores(real.network)
    model = quantize(network, real.calibration, options)
    deployment = deployed(model, "dsp", chip)
    assert [subnet.runtime for subnet in deployment.subnets] == ["dsp"]
    executor = deployment.executor()
    engine, (name, *_) = FloatEngine(network), network.outputs
    floats, codes = (
        np.stack([side.run(feed)[name].ravel() for feed in real.inputs])
        for side in (engine, executor)
    )
    return floats, codes


def right(scores: Array, real: RealNetwork) -> int:
    """How many of the inputs whose class is known got one that is accepted."""
    winners = np.argmax(scores, axis=-1).tolist()
    return sum(winner in label for winner, label in zip(winners, real.labels, strict=True))


def kept(floats: Array, codes: Array) -> int:
    """How many inputs have the same winner."""
    return int(np.sum(np.argmax(floats, axis=-1) == np.argmax(codes, axis=-1)))
