from __future__ import annotations

import pytest

from hexsim.datasheets import background
from hexsim.datasheets.background import Background
from hexsim.deployment.platform import Platform
from hexsim.simulation.simulator import Workload
from hexsim.studies.interference import QUEUED_INFERENCES, Interference, Slowdown, interference
from tests.small_networks import Sketch, plan


def interference_of(*loads: Background, runtime: str = "dsp") -> Interference:
    net = Sketch((1, 28, 28, 32))
    network = net.network(net.conv(net.conv("in", 64, 3), 64, 3))
    workload = Workload.single(plan(network, runtime), background=loads)  # type: ignore[arg-type]
    return interference(Platform.load("sd845"), workload)


def test_the_network_alone_is_what_it_is_without_clients() -> None:
    both = interference_of(background.load("camera"), background.load("audio"))
    assert both.names == ("camera", "audio")
    assert both.alone.clients == ()
    assert both.total.alone_ps == interference_of(background.load("audio")).total.alone_ps
    assert len(both.beside.inferences) == QUEUED_INFERENCES
    assert both.total.alone_ps < both.total.beside_ps <= both.worst_ps


def test_the_parts_add_up_to_the_total() -> None:
    study = interference_of(background.load("camera"))
    assert sum(part.alone_ps for part in study.parts) == study.total.alone_ps
    assert sum(part.beside_ps for part in study.parts) == pytest.approx(study.total.beside_ps)


def test_clients_are_paired_with_themselves_and_suffer_from_the_network() -> None:
    pairs = list(interference_of(background.load("camera")).clients)
    assert [(a.name, a.released) for a, _ in pairs] == [(b.name, b.released) for _, b in pairs]
    alone, beside = pairs[0]
    assert alone.worst_ps < beside.worst_ps


def test_the_cpu_does_not_feel_what_happens_on_the_dsp() -> None:
    study = interference_of(background.load("camera"), runtime="cpu")
    assert study.total.factor == 1
    assert all(alone == beside for alone, beside in study.clients)


def test_a_slowdown_from_nothing_is_infinite() -> None:
    assert Slowdown("wait", 0, 5.0).factor == float("inf")
    assert Slowdown("layer", 4, 5.0).factor == 1.25
