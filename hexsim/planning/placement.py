"""Which engine runs a layer, and why.

Layers that the requested runtime refuses run on the CPU. The layers of an HTA section run there.
"""

from hexsim.datasheets.operators import Operators
from hexsim.graph.ir import Layer
from hexsim.layers.support import runs_in_graph
from hexsim.quantization.float_layers import element_refusal, is_half_float, refusal_in
from hexsim.quantization.model import Model
from hexsim.records import dataclass
from hexsim.runtimes import MAIN_ENGINE, Engine, Runtime

_IN_GRAPH = "the tensor processor runs it in the same graph"


@dataclass(frozen=True)
class Placement:
    """Where a layer runs and why; `section` is the index of its HTA section, -1 for none."""

    runtime: Runtime
    engine: Engine
    section: int
    reason: str


def place_of(
    layer: Layer, model: Model, runtime: Runtime, section: int, operators: Operators | None
) -> Placement:
    """Return where a layer runs, by the `operators` of a release; None is the last SNPE 1.x."""
    if section >= 0:
        return Placement(runtime, "hta", section, "compiled for the HTA")
    refused = refusal_in(model, layer, runtime, operators)
    release = operators or Operators.of("snpe-1")
    half = runtime == "htp" and refused is None and is_half_float(layer, model)
    in_graph = half or (
        refused is not None and runs_in_graph(layer, runtime, model.network, release)
    )
    if refused is None or in_graph:
        refused = element_refusal(model, layer, "htp_fp16" if half else runtime, release)
    if in_graph and refused is None:
        # Its values are those of the CPU runtime, its time that of the processor.
        return Placement("cpu", MAIN_ENGINE[runtime], -1, _IN_GRAPH)
    if refused is not None:
        return Placement("cpu", "cpu", -1, refused)
    return Placement(runtime, MAIN_ENGINE[runtime], -1, f"{runtime} takes every layer")


def cpu_reason(model: Model, layer: Layer, runtime: Runtime, operators: Operators | None) -> str:
    """Return why `runtime` leaves a layer to the CPU, "" if it takes it."""
    place = place_of(layer, model, runtime, -1, operators)
    return place.reason if place.engine == "cpu" else ""
