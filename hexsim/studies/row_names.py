"""The figures of a simulation under the names that the SNPE tools give them.

The rows of a call are nested, by the scope of their times (`hexsim.timing.results.Scope`):

1. Total Inference Time contains Forward Propagate Time, which excludes the application's copies.
2. That contains RPC Execute Time: caches, buffers, calls to the DSP and back, waking it.
3. That contains Snpe Accelerator Time: all work of the DSP, with conversions of floats.
4. That contains Accelerator Time: the graph, from its start on, with its layers.
5. Misc Accelerator Time is the graph's work outside SNPE's layers: changes of layout at its edges.
   On AIP changes into and out of the tensor engine's layout are Convert Times instead.

Where nothing runs on the DSP, rows 2 to 5 are zero.

Left out: the times that the DSP itself reports while it builds a graph, which are not simulated.
So the rows of an accelerator's initialisation are missing where the DSP is used.
"""

from collections.abc import Iterator, Mapping

from hexsim.planning.plan import Plan
from hexsim.records import dataclass
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
_LAYOUT_CHANGES: Mapping[str, Engine | None] = {
    "to_d32": "hvx",
    "from_d32": None,
    "to_hta": "hta",
    "from_hta": None,
}
"""Changes of layout by name, and the engine that reads the result; None: the application."""

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
"""Rows to which snpe_bench.py gives other names than snpe-diagview."""


@dataclass(frozen=True)
class Converted:
    """A change of a tensor's layout for the tensor engine: its subnets and its duration."""

    subnets: str
    tensor: str
    duration_ps: int


def initialisation(timing: Result) -> Iterator[tuple[str, int]]:
    """Yield name and picoseconds of the parts of initialisation, its total and the release."""
    networks_ps = timing.init_part_ps("create", "rpc_init")
    yield "Load", timing.init_part_ps("load")
    yield "Deserialize", timing.init_part_ps("deserialize")
    yield "Create", timing.init_part_ps("quantize", "dequantize") + networks_ps
    yield "Init", timing.init_ps
    yield "De-Init", timing.release_ps
    yield "Create Network(s)", networks_ps
    yield "RPC Init Time", timing.init_part_ps("rpc_init")
    if not any(layer.engine in _ON_DSP for layer in timing.layers):
        yield "Snpe Accelerator Init Time", 0
        yield "Accelerator Init Time", 0


def inference(timing: Result) -> Iterator[tuple[str, int]]:
    """Yield name and picoseconds of an inference and of its parts, each nested in the previous."""
    layers_ps = sum(layer.duration_ps for layer in timing.layers if layer.engine in _ON_DSP)
    graph_ps = layers_ps + _scope_ps(timing, "graph")
    executor_ps = graph_ps + _scope_ps(timing, "executor")
    yield "Total Inference Time", timing.total_ps
    yield "Forward Propagate Time", timing.forward_ps
    yield "RPC Execute Time", executor_ps + _scope_ps(timing, "rpc")
    yield "Snpe Accelerator Time", executor_ps
    yield "Accelerator Time", graph_ps


def misc_ps(plan: Plan, timing: Result) -> int:
    """Return Misc Accelerator Time in picoseconds."""
    return sum(part.duration_ps for part, change in _changes(plan, timing) if change is None)


def conversions(plan: Plan, timing: Result) -> list[Converted]:
    """Return the Convert Times; subnets count from 0 in the plan's order."""
    return [change for _, change in _changes(plan, timing) if change is not None]


def _changes(plan: Plan, timing: Result) -> Iterator[tuple[Overhead, Converted | None]]:
    """Yield every change of layout, with its subnets if one is on the tensor engine.

    A tensor may come from the application, or go to it.
    """
    writers = {name: index for index, subnet in enumerate(plan.subnets) for name in subnet.outputs}
    for part in timing.overheads:
        kind, _, tensor = part.name.partition(" ")
        if kind not in _LAYOUT_CHANGES:
            continue
        writer, engine = writers.get(tensor), _LAYOUT_CHANGES[kind]
        subnets = [] if writer is None else [writer]
        if engine is not None:
            readers = (
                index for index, subnet in enumerate(plan.subnets) if tensor in subnet.inputs
            )
            subnets += [index for index in readers if plan.subnets[index].engine == engine][:1]
        of_engine = "hta" in kind or any(plan.subnets[index].engine == "hta" for index in subnets)
        change = Converted("-".join(map(str, subnets)), tensor, part.duration_ps)
        yield part, change if of_engine else None


def runtime_cell(engine: Engine, runtime: Runtime) -> str:
    """Return the tools' name for the engine of a layer: on aip both engines are called AIP."""
    return "AIP" if runtime == "aip" and engine == "hvx" else _CELLS[engine]


def _scope_ps(timing: Result, scope: str) -> int:
    return sum(overhead.duration_ps for overhead in timing.overheads if overhead.scope == scope)
