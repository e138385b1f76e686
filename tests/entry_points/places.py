"""Where the networks of the entry points run, and the models that are loaded there."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hexsim.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import prepared
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import FloatArray
from hexsim.quantization.model import Model
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import Runtime
from tests.entry_points.examples import Example


class Place(NamedTuple):
    """A runtime of a chip."""

    chip: str
    runtime: Runtime

    def __str__(self) -> str:
        return f"{self.runtime} on {self.chip}"


STACK = Path(__file__).with_name("everything.toml")
PLACES = (
    Place("sd835", "fxp_cpu"),
    Place("sd835", "dsp"),
    Place("sd855", "dsp"),
    Place("sd855", "aip"),
)


@cache
def platform(chip: str) -> Platform:
    return Platform.load(chip, STACK)


def feed(example: Example) -> dict[str, FloatArray]:
    """One input, in stored order."""
    rng = np.random.default_rng(11)
    shapes = {name: example.network.shape(name) for name in example.network.inputs}
    if example.network.input_formats:  # bytes
        return {n: rng.integers(0, 256, s).astype(np.float32) for n, s in shapes.items()}
    return {n: rng.uniform(-2, 2, s).astype(np.float32) for n, s in shapes.items()}


def model(example: Example, place: Place) -> Model:
    """Quantised, with all sections that compile for aip."""
    coded = quantize(example.network, [feed(example)])
    coded = replace(coded, parameters={**coded.parameters, **example.given})
    return prepared(coded, platform(place.chip), place.runtime)


def deployment(loaded: Model, place: Place) -> Deployment:
    return deploy(loaded, platform(place.chip), place.runtime)
