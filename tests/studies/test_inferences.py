"""How background clients slow down a network, and how the network slows them down."""

from __future__ import annotations

import pytest

from hexsim.datasheets import background
from hexsim.deployment.platform import Platform
from hexsim.results.costs import Interference
from hexsim.simulation.simulator import Workload
from hexsim.studies.inferences import QUEUED_INFERENCES, interference
from hexsim.timing.results import Result
from tests.small_networks import Sketch, plan


def beside(*names: str, runtime: str = "dsp") -> tuple[Result, Interference]:
    loads = tuple(background.load(name) for name in names)
    net = Sketch((1, 28, 28, 32))
    network = net.network(net.conv(net.conv("in", 64, 3), 64, 3))
    workload = Workload.single(plan(network, runtime), background=loads)  # type: ignore[arg-type]
    alone, both = interference(Platform.load("sd845"), workload)
    assert both is not None
    return alone, both


def test_the_network_alone_is_what_it_is_without_clients() -> None:
    alone, both = beside("camera", "audio")
    assert both.loads == ("camera", "audio")
    assert alone.clients == ()
    assert both.alone_us == alone.total_us == beside("audio")[1].alone_us
    assert both.timing is not None
    assert len(both.timing.inferences) == both.inferences == QUEUED_INFERENCES
    assert both.alone_us < both.mean_us <= both.worst_us


def test_the_parts_add_up_to_the_total() -> None:
    _, study = beside("camera")
    parts = study.parts.values()
    assert sum(part.alone_us for part in parts) == pytest.approx(study.alone_us)
    assert sum(part.mean_us for part in parts) == pytest.approx(study.mean_us)


def test_clients_suffer_from_the_network() -> None:
    client, *_ = beside("camera")[1].clients
    assert client.alone.worst_us < client.beside.worst_us


def test_the_cpu_does_not_feel_what_happens_on_the_dsp() -> None:
    _, study = beside("camera", runtime="cpu")
    assert study.mean_us == study.alone_us
    assert all(client.alone == client.beside for client in study.clients)
