"""Preparing a graph of a tensor processor: its figures by hand, and as the simulation has them."""

from __future__ import annotations

import pytest

from hexsim.datasheets.quantity import Estimate
from hexsim.deployment import Deployment
from hexsim.deployment.prepared_graph import prepared_graph
from hexsim.planning.plan import PreparedGraph
from tests.deployed import deployed
from tests.small_networks import Sketch

CHIP = "sd8gen3"
LAYERS = 2
TILES = 9 * 32 * 64 + 4096 * 32
"""Bytes of weights: 16 channels of a window, and 10 classes, take whole tiles of 32."""


def _deployment(chip: str = CHIP) -> Deployment:
    sketch = Sketch((1, 8, 8, 16))
    network = sketch.network(sketch.dense(sketch.conv("in", 64, 3), 10))
    return deployed(network, "htp" if chip == CHIP else "dsp", chip)


def _prepared(deployment: Deployment) -> PreparedGraph | None:
    return prepared_graph(deployment.plan, deployment.memory(), deployment.platform.stack)


def test_a_small_network_by_hand() -> None:
    deployment = _deployment()
    prepared, memory = _prepared(deployment), deployment.memory()
    assert prepared is not None
    known = dict(deployment.platform.stack.quantities())
    records, once, each, time = (
        Estimate.of(known[f"htp.{name}"])
        for name in (
            *("binary_bytes_per_layer", "process_bytes"),
            *("memory_bytes_per_layer", "prepare_s_per_layer"),
        )
    )
    assert memory.packed_bytes == TILES
    assert prepared.binary_bytes == records * LAYERS + TILES
    assert prepared.prepare_s == time * LAYERS
    assert prepared.prepare_bytes == prepared.binary_bytes + deployment.plan.stored_bytes
    assert prepared.process_bytes == once + each * LAYERS + memory.peak_bytes
    assert memory.peak_bytes == TILES + memory.activation_bytes + memory.application_bytes


def test_initialisation_prepares_and_a_binary_saves_that() -> None:
    """The figure is that of the simulation, at the middle; each part has its own bounds."""
    deployment = _deployment()
    prepared = _prepared(deployment)
    assert prepared is not None
    init_s = deployment.simulate().init_ps / 1e12
    assert prepared.initialise_s.value == pytest.approx(init_s, rel=1e-9)
    load, read = deployment.platform.stack.load, prepared.binary_bytes
    reading = 1 / load.file_bytes_per_s + load.deserialize_s_per_byte
    file_s = deployment.plan.stored_bytes * reading
    saved = prepared.initialise_s.value - prepared.load_s.value
    assert saved == pytest.approx(file_s + prepared.prepare_s.value - read.value * reading)
    for figure in vars(prepared).values():
        assert figure.low < figure.value < figure.high


def test_other_runtimes_prepare_none() -> None:
    deployment = _deployment("sd835")
    assert _prepared(deployment) is None
    assert deployment.memory().process is None
