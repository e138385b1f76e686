"""The figures of a simulation under the names that the SNPE tools give them.

Rows of a call lie one in the other, as whose time it is tells (`hexsim.timing.results.Scope`):

1. Total Inference Time holds Forward Propagate Time, which the application's copies are not in.
2. That holds RPC Execute Time: caches, buffers, the way to the DSP and back, waking it.
3. That holds Snpe Accelerator Time: what the DSP does, conversions of floats included.
4. That holds Accelerator Time: the graph, from its start on, with its layers.
5. Misc Accelerator Time is what the graph has beside SNPE's layers: changes of layout at its edges.
   On AIP those into and out of the tensor engine's layout are Convert Times instead.

Where nothing runs on the DSP, rows 2 to 5 are zero.

Left out: what the DSP reports of itself while it builds a graph, which is not simulated. There the
rows of an accelerator's initialisation are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hexsim.planning.plan import Plan
from hexsim.runtimes import Engine, Runtime
from hexsim.timing.results import Overhead, Result

_CELLS: Mapping[Engine, str] = {
    "cpu": "CPU",
    "gpu": "GPU",
    "hvx": "DSP",
    "hta": "AIP",
    "htp": "HTP",
}
_ON_DSP = ("hvx", "hta", "htp")
_WAYS: Mapping[str, Engine | None] = {
    "to_d32": "hvx",
    "from_d32": None,
    "to_hta": "hta",
    "from_hta": None,
}
"""Changes of layout by name, and the engine that reads what comes out; None: the application."""

IN_CSV: Mapping[str, str] = {
    f"{name} Time": name
    for name in (
        "Forward Propagate",
        "RPC Execute",
        "Snpe Accelerator",
        "Accelerator",
        "Misc Accelerator",
    )
}
"""Rows that snpe_bench.py calls otherwise than snpe-diagview does."""


@dataclass(frozen=True)
class Converted:
    """A tensor that changed its layout for the tensor engine: between which subnets, how long."""

    subnets: str
    tensor: str
    duration_ps: int


def initialisation(timing: Result) -> Iterator[tuple[str, int]]:
    """Name and picoseconds of each part of making a network ready, of all of it, and of its end."""
    networks_ps = timing.init_part_ps("create", "rpc_init")
    yield "Load", timing.init_part_ps("load")
    yield "Deserialize", timing.init_part_ps("deserialize")
    yield "Create", timing.init_part_ps("quantize", "dequantize") + networks_ps
    yield "Init", timing.init_ps
    yield "De-Init", timing.release_ps
    yield "Create Network(s)", networks_ps
    yield "RPC Init Time", timing.init_part_ps("rpc_init")
    if not _uses_dsp(timing):
        yield "Snpe Accelerator Init Time", 0
        yield "Accelerator Init Time", 0


def inference(timing: Result) -> Iterator[tuple[str, int]]:
    """Name and picoseconds of an inference and of its parts, each within the one before."""
    layers_ps = sum(layer.duration_ps for layer in timing.layers if layer.engine in _ON_DSP)
    graph_ps = layers_ps + _of(timing, "graph")
    executor_ps = graph_ps + _of(timing, "executor")
    yield "Total Inference Time", timing.total_ps
    yield "Forward Propagate Time", timing.forward_ps
    yield "RPC Execute Time", executor_ps + _of(timing, "rpc")
    yield "Snpe Accelerator Time", executor_ps
    yield "Accelerator Time", graph_ps


def misc_ps(plan: Plan, timing: Result) -> int:
    """Misc Accelerator Time in picoseconds."""
    return sum(part.duration_ps for part, change in _changes(plan, timing) if change is None)


def conversions(plan: Plan, timing: Result) -> list[Converted]:
    """The Convert Times; subnets count from 0 in the plan's order."""
    return [change for _, change in _changes(plan, timing) if change is not None]


def _changes(plan: Plan, timing: Result) -> Iterator[tuple[Overhead, Converted | None]]:
    """Every change of layout, with the subnets between which it is if one is the engine's.

    A tensor may come from the application, or go there.
    """
    writers = {name: n for n, subnet in enumerate(plan.subnets) for name in subnet.outputs}
    for part in timing.overheads:
        way, _, tensor = part.name.partition(" ")
        if way not in _WAYS:
            continue
        writer, side = writers.get(tensor), _WAYS[way]
        ends = [] if writer is None else [writer]
        if side is not None:
            readers = (n for n, subnet in enumerate(plan.subnets) if tensor in subnet.inputs)
            ends += [n for n in readers if plan.subnets[n].engine == side][:1]
        of_engine = "hta" in way or any(plan.subnets[n].engine == "hta" for n in ends)
        change = Converted("-".join(map(str, ends)), tensor, part.duration_ps)
        yield part, change if of_engine else None


def runtime_cell(engine: Engine, runtime: Runtime) -> str:
    """What the tools say ran a layer: on aip both engines are called AIP."""
    return "AIP" if runtime == "aip" and engine == "hvx" else _CELLS[engine]


def _uses_dsp(timing: Result) -> bool:
    return any(layer.engine in _ON_DSP for layer in timing.layers)


def _of(timing: Result, scope: str) -> int:
    return sum(overhead.duration_ps for overhead in timing.overheads if overhead.scope == scope)
