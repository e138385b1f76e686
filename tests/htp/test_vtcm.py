"""Graphs that may use a part of VTCM, one after another or side by side."""

from __future__ import annotations

import pytest

import hexsim
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.simulation.simulator import Job, Workload
from hexsim.studies.throughput import Caller, throughput
from hexsim.timing.picoseconds import PS_PER_SECOND

NAME = "resnet18_hub"
WHOLE = Platform.load("qcs8550")


def _on(platform: Platform) -> Deployment:
    return Deployment(hexsim.load(NAME), platform, "htp")


def test_all_of_it_is_the_default() -> None:
    for megabytes in (None, 0):
        assert WHOLE.with_vtcm(megabytes) is WHOLE
    assert _on(WHOLE.with_vtcm(8)).simulate().total_ps == _on(WHOLE).simulate().total_ps


@pytest.mark.parametrize(
    ("chip", "megabytes", "graphs", "sentence"),
    [
        ("qcs8550", 16, 1, "16 MB of VTCM for a graph: qcs8550 has 8 MB in all"),
        ("qcs8550", -1, 1, "a graph needs 0.25 MB or more"),
        ("qcs8550", 4.5, 2, "4.5 MB of VTCM for each of 2 graphs: qcs8550 has 8 MB in all"),
        ("sd8gen1", None, 2, "graphs on sd8gen1 run one after another: VTCM is divided from V73"),
        ("sd835", 2, 1, "sd835 has no tensor processor"),
    ],
)
def test_refusals(chip: str, megabytes: float | None, graphs: int, sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        Platform.load(chip).with_vtcm(megabytes, graphs)


def test_two_graphs_side_by_side() -> None:
    """Alone each takes what its share of VTCM allows; beside the other it takes longer, but both
    end before one of them would after the other."""
    shared = WHOLE.with_vtcm(None, graphs=2)
    assert (shared.vtcm_mb, shared.graphs) == (4, 2)
    plan = _on(shared).plan
    alone = shared.simulate(Workload((Job(plan),)))
    single = _on(WHOLE.with_vtcm(4)).simulate()
    assert alone.total_ps == pytest.approx(single.total_ps, abs=100 * len(single.layers))
    both = shared.simulate(Workload((Job(plan), Job(plan)))).inferences
    assert all(
        not any(part.name == "htp_wait" for part in inference.overheads) for inference in both
    )
    for inference in both:
        assert alone.total_ps < inference.total_ps < 2 * alone.total_ps
        for layer in inference.layers:
            assert sum(layer.parts_ps.values()) == layer.duration_ps
            assert min(layer.parts_ps.values()) >= 0


def test_a_third_graph_waits() -> None:
    shared = WHOLE.with_vtcm(2, graphs=2)
    plan = _on(shared).plan
    simulation = shared.simulate(Workload((Job(plan), Job(plan), Job(plan))))
    waits = [
        any(part.name == "htp_wait" for part in inference.overheads)
        for inference in simulation.inferences
    ]
    assert sorted(waits) == [False, False, True]
    assert {span.track for span in simulation.timeline.spans if "htp" in span.track} == {
        *("htp 0", "htp 1", "htp dma 0", "htp dma 1")
    }


def test_side_by_side_more_is_done() -> None:
    """DDR serves one graph while the other computes; each unit is in use for at most all time."""
    shared = WHOLE.with_vtcm(None, graphs=2)
    in_turn, beside = (
        throughput(platform, [Caller(_on(platform).plan, 2)]) for platform in (WHOLE, shared)
    )
    alone_ps = _on(WHOLE).simulate().total_ps
    call_ps = WHOLE.stack.htp.call_s.of(WHOLE.stack.profile()) * PS_PER_SECOND
    only_calls_overlap = alone_ps / (alone_ps - call_ps)
    assert beside.gain > in_turn.gain == pytest.approx(only_calls_overlap, rel=1e-3)
    assert all(0 < used <= 1 for used in beside.utilisation.values())
    callers = [Caller(_on(shared).plan, 1, priority) for priority in ("low", "high")]
    with pytest.raises(HexsimError, match="graphs that run at a time have one priority"):
        throughput(shared, callers)  # type: ignore[arg-type]
