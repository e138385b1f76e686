"""One model answers the same by every entry point of the API: memory, file, again, any threads."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim import dlc
from hexsim.graph.ir import FloatArray
from hexsim.layers import TYPES
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model
from tests.entry_points.examples import Example, examples
from tests.entry_points.places import PLACES, STACK, Place, deployment, feed, model
from tests.thorough import paired

ALL = examples()


def test_every_layer_type_has_an_example() -> None:
    missing = set(TYPES) - {example.of for example in ALL}
    assert not missing, f"give {missing} an example in tests/entry_points/examples.py"


@pytest.fixture(scope="module", autouse=True)
def _frozen_until_the_end() -> Iterator[None]:
    gc.collect()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _quick_collections(_frozen_until_the_end: None) -> None:
    """Collecting garbage looks at what this test makes only: not at caches and late imports."""
    gc.freeze()


def churn() -> None:
    """Let go of what nobody owns, and overwrite it."""
    gc.collect()
    held = [np.full(size, 0xA5, np.uint8) for size in (64, 512, 4096, 1 << 16) for _ in range(50)]
    del held


def answer(loaded: Model, place: Place, x: dict[str, FloatArray], threads: int = 1) -> FloatArray:
    """What a deployment answers once nobody but its executor is left of it."""
    executor = deployment(loaded, place).executor(threads)
    del loaded
    churn()
    first = executor.run(x)["y"]
    churn()
    np.testing.assert_array_equal(executor.run(x)["y"], first, "a second run")
    return first


@pytest.mark.parametrize(("example", "place"), paired(ALL, PLACES, 1), ids=str)
def test_values_are_the_same(example: Example, place: Place, tmp_path: Path) -> None:
    loaded, x, file = model(example, place), feed(example), tmp_path / "m.dlc"
    dlc.write(file, loaded)
    expected = answer(loaded, place, x)
    np.testing.assert_array_equal(answer(loaded, place, x, threads=2), expected, "two threads")
    np.testing.assert_array_equal(answer(dlc.read(file).model, place, x), expected, "file")
    tensors = example.network.tensors
    source = {name: tensors[name].to_source(array) for name, array in x.items()}
    done = hexsim.simulate(file, place.chip, place.runtime, source, stack=STACK)
    assert done.outputs is not None
    values = tensors["y"].from_source(done.outputs["y"])
    np.testing.assert_array_equal(values, expected, "hexsim.simulate")
    floats = FloatEngine(example.network).run(x)["y"]
    steps = loaded.activations["y"].delta if "y" in loaded.activations else 0.0
    span = float(np.abs(floats).max(initial=0))
    assert np.abs(expected - floats).max(initial=0) <= 3 * steps + 0.04 * span, "near float"
