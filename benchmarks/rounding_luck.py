"""How much of a network's SQNR is the luck of one rounding (docs/results/equalisation.md).

HEXSIM_REAL_DATA=FOLDER python -m benchmarks.rounding_luck [--spread 0.01] [--draws 41]

Every channel between the layers of a chain is multiplied by a random factor, log-normal with that
spread, which leaves the float function as it is and moves every range by about as much. So the
draws differ in where values are rounded, and in little else. Each is quantised and run on the DSP.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from benchmarks.real_networks import RealNetwork, real_networks
from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.scores import class_scores
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.equalization import (
    equalize,
    find_chains,
    rescaled,
    sets,
    with_own_parameters,
)
from hexsim.quantization.quantizer import quantize

NETWORK = "vww"


def shaken(network: Network, spread: float, seed: int) -> Network:
    """Multiply the channels inside the chains of a network that owns its parameters; 0 does not."""
    rng = np.random.default_rng(seed)
    inner = [
        layer
        for chain in find_chains(network)
        for run in sets(chain, network)
        for layer in run[:-1]
    ]
    factors = {
        layer.output: np.exp(rng.normal(0, spread, layer.output_channels)) for layer in inner
    }
    return rescaled(network, factors) if seed else network


def sqnrs(real: RealNetwork, network: Network, draws: list[Network]) -> list[float]:
    """SQNR in dB of the class scores of each draw against the float `network`."""
    platform = Platform.load("sd835")
    engine, (output,) = FloatEngine(network), network.outputs
    floats = np.stack([engine.run(feed)[output].ravel() for feed in real.inputs])
    sqnrs = []
    for draw in draws:
        model = quantize(draw, real.calibration)
        executor = Deployment(model, platform, "dsp").executor()
        codes = np.stack([executor.run(feed)[output].ravel() for feed in real.inputs])
        sqnrs.append(Distance.between(floats, codes).sqnr_db)
    return sqnrs


def main() -> None:
    """Print a row per way of quantising."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spread", type=float, default=0.01)
    parser.add_argument("--draws", type=int, default=41)
    asked = parser.parse_args()
    networks = real_networks(Path(os.environ["HEXSIM_REAL_DATA"]))
    (real,) = (network for network in networks if NETWORK in network.network.name)
    network = class_scores(real.network)
    plain, equal = with_own_parameters(network), equalize(network).network
    print(
        "| | as it is | a tenth below | median | a tenth above |\n| --- | --- | --- | --- | --- |"
    )
    for name, start in (("default", plain), ("cle", equal)):
        draws = [shaken(start, asked.spread, seed) for seed in range(asked.draws)]
        sqnrs_db = sqnrs(real, network, draws)
        figures = (sqnrs_db[0], *np.quantile(sqnrs_db, (0.1, 0.5, 0.9)))
        print(f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures)} |", flush=True)


if __name__ == "__main__":
    main()
