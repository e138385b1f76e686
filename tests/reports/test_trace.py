"""Traces against the published format, the timeline they are made of, and the counters."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import background, chips, stacks
from hexsim.graph.ir import Network
from hexsim.layers import Opaque
from hexsim.reports.trace import trace_json
from hexsim.simulation.simulator import Job, Workload, simulate
from hexsim.timing.results import Result
from tests.reports.trace_format import complaints, ns
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples


def recorded(network: Network, runtime: str = "dsp", jobs: int = 1, *loads: str) -> Result:
    job = Job(plan(network, runtime), count=2)  # type: ignore[arg-type]
    clients = tuple(background.load(name) for name in loads)
    workload = Workload((job,) * jobs, clients, recorded=True)
    return simulate(workload, chips.load("sd855"), stacks.load("snpe-1.30"))


def mixed() -> Network:
    """Two layers on the DSP with one on the CPU between them."""
    net = Sketch((1, 28, 28, 32))
    first = net.conv("in", 64, 3)
    middle = net.add(Opaque, first, op_type="Erf", node=b"", shapes=(net.shape(first),))
    return net.network(net.conv(middle, 32))


def events(text: str, phase: str) -> list[dict[str, Any]]:
    return [event for event in json.loads(text)["traceEvents"] if event["ph"] == phase]


def by_track(text: str) -> dict[str, list[dict[str, Any]]]:
    names = {
        event["tid"]: event["args"]["name"]
        for event in events(text, "M")
        if event["name"] == "thread_name"
    }
    by_name: dict[str, list[dict[str, Any]]] = {name: [] for name in names.values()}
    for event in events(text, "X"):
        by_name[names[event["tid"]]].append(event)
    return by_name


@examples(25)
@given(networks(), st.sampled_from(["dsp", "cpu", "gpu"]), st.integers(1, 3))
def test_any_trace_is_what_the_format_says(network: Network, runtime: str, jobs: int) -> None:
    text = trace_json([("it", recorded(network, runtime, jobs))])
    assert complaints(text) == []
    assert text == trace_json([("it", recorded(network, runtime, jobs))])


def test_beside_clients_too() -> None:
    text = trace_json(
        [("a", recorded(mixed(), "dsp", 2, "camera", "audio")), ("b", recorded(mixed()))]
    )
    assert complaints(text) == []
    assert {event["pid"] for event in events(text, "X")} == {1, 2}
    on_threads = {e["name"] for name, t in by_track(text).items() for e in t if "hardware" in name}
    assert any(name.startswith("audio") for name in on_threads)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"ph": "Y"}, "unknown phase"),
        ({"ts": -1}, "microseconds"),
        ({"dur": "5"}, "microseconds"),
        ({"tid": "main"}, "integer"),
        ({"begin": 3}, "keys"),
        ({"tid": 99}, "no name"),
        ({"dur": 1e9}, "does not nest"),
    ],
)
def test_the_check_finds_what_it_looks_for(change: dict[str, Any], complaint: str) -> None:
    document = json.loads(trace_json([("it", recorded(mixed()))]))
    inner = [event for event in document["traceEvents"] if event["ph"] == "X"][4]
    inner.update(change)
    assert complaint in " ".join(complaints(json.dumps(document)))


def test_tracks_come_from_the_application_down_to_the_hardware() -> None:
    assert list(by_track(trace_json([("it", recorded(mixed()))]))) == [
        "inference",
        "cpu",
        "fastrpc",
        *(f"hardware thread {k}" for k in range(4)),
        *(f"hvx context {k}" for k in range(4)),
        "q6 main",
        "q6 prefetch",
        *(f"q6 worker {k}" for k in range(4)),
    ]


def test_an_inference_holds_its_subnets_and_they_their_layers() -> None:
    result = recorded(mixed())
    track = by_track(trace_json([("it", result)]))["inference"]
    names = [event["name"] for event in track if event["ts"] < result.total_us]
    assert names[0] == "inference 0"
    subnets = [name for name in names if name.startswith("subnet")]
    assert subnets == ["subnet 0 (hvx)", "subnet 1 (cpu)", "subnet 2 (hvx)"]
    layers = [layer.name for layer in result.layers]
    assert [name for name in names if name in layers] == layers
    for layer in result.layers:
        event = next(event for event in track if event["name"] == layer.name)
        assert event["args"]["bound"] == layer.bound
        assert ns(event["ts"]) == round(layer.start_ps / 1000)
        around = subnets[layers.index(layer.name)]
        outer = next(event for event in track if event["name"] == around)
        assert outer["ts"] <= event["ts"]
        assert ns(event["ts"] + event["dur"]) <= ns(outer["ts"] + outer["dur"])


def test_hardware_threads_and_contexts_name_who_and_what() -> None:
    result = recorded(mixed(), "dsp", 2)
    tracks = by_track(trace_json([("it", result)]))
    layers = {layer.name for layer in result.layers if layer.engine == "hvx"}
    holders, workers = {"job 0 q6", "job 1 q6"}, set[str]()
    for k in range(4):
        context = {event["name"] for event in tracks[f"hvx context {k}"]}
        assert holders <= context
        assert layers & context
        thread = {event["name"] for event in tracks[f"hardware thread {k}"]}
        workers |= {name for name in thread if "worker" in name}
    assert workers == {f"job {j} q6 worker {w}" for j in (0, 1) for w in range(4)}
    inside = [
        event
        for k in range(4)
        for event in tracks[f"hvx context {k}"]
        if event["name"] not in holders
    ]
    worked = sum(result.timeline.busy_ps(worker) for worker in workers)
    busy_us = sum(event["dur"] for event in inside)
    assert busy_us == pytest.approx(worked / 1e6, abs=len(inside) * 1e-3)


def test_the_counter_of_ddr_adds_up_to_the_bytes_moved() -> None:
    net = Sketch((1, 56, 56, 64))
    result = recorded(net.network(net.conv(net.conv("in", 256, 3), 256, 3)), "dsp", 2)
    text = trace_json([("it", result)])
    readings = [event for event in events(text, "C") if event["name"] == "ddr"]
    moved = sum(
        before["args"]["GB/s"] * 1e3 * (after["ts"] - before["ts"])
        for before, after in pairwise(readings)
    )
    counted = result.counters["dsp_ddr_read_bytes"] + result.counters["dsp_ddr_write_bytes"]
    assert counted > 10**6
    assert moved == pytest.approx(counted, rel=1e-3)
    assert readings[-1]["args"]["GB/s"] == 0


def test_busy_time_is_that_of_the_timeline() -> None:
    result = recorded(mixed(), "dsp", 2)
    tracks = by_track(trace_json([("it", result)]))
    for name in ("job 0 cpu", "job 1 fastrpc", "job 0 q6 main", "job 1 q6 worker 3"):
        busy_us = sum(event["dur"] for event in tracks[name])
        spans = len(tracks[name])
        assert busy_us == pytest.approx(result.timeline.busy_ps(name) / 1e6, abs=spans * 1e-3)
