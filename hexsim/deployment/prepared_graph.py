"""Preparing a graph of a tensor processor: the context binary, the time and memory for it.

A graph is prepared on a CPU, that of a host ahead of time or that of the phone whenever a network
is initialised. The result, a context binary, has the weights in tiles and the records of the
layers; loading it means reading it. All figures are estimates by constants of the release, of which
nobody has published any.

Left out: differences between hosts, which are small beside the interval; graphs that share weights
in one binary; compression of weights.
"""

from dataclasses import replace

from hexsim.datasheets.quantity import Estimate
from hexsim.datasheets.stacks import Stack
from hexsim.deployment.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.host.initialisation import initialisation
from hexsim.planning.plan import Plan, PreparedGraph
from hexsim.quantization.model import GraphRecord, Model
from hexsim.results.costs import Footprint
from hexsim.timing.picoseconds import PS_PER_SECOND


def prepared_graph(plan: Plan, memory: Footprint, stack: Stack) -> PreparedGraph | None:
    """Estimate preparing the graphs of a plan; None if nothing runs on a tensor processor."""
    if memory.process is None:
        return None
    layers = plan.layers_on("htp")
    known = {path: Estimate.of(constant) for path, constant in stack.quantities()}
    read_s = known["load.file_bytes_per_s"].inverse() + known["load.deserialize_s_per_byte"]
    binary_bytes = known["htp.binary_bytes_per_layer"] * layers + memory.packed_bytes
    prepare_s = known["htp.prepare_s_per_layer"] * layers
    parts = initialisation(replace(plan, binary_bytes=None), stack, stack.profile())
    whole_s = sum(part.duration_ps for part in parts) / PS_PER_SECOND
    other_s = max(0.0, whole_s - (read_s * plan.stored_bytes + prepare_s).value)
    return PreparedGraph(
        binary_bytes=binary_bytes,
        prepare_s=prepare_s,
        prepare_bytes=binary_bytes + plan.stored_bytes,
        initialise_s=read_s * plan.stored_bytes + prepare_s + other_s,
        load_s=read_s * binary_bytes + other_s,
        process_bytes=memory.process,
    )


def with_graph(model: Model, deployment: Deployment) -> Model:
    """Return `model`, which is deployed, with a record that its graph is prepared for the platform.

    It replaces one for the same platform. Raises HexsimError if nothing runs on a tensor processor.
    """
    platform, plan, runtime = deployment.platform, deployment.plan, deployment.runtime
    prepared = prepared_graph(plan, deployment.memory(), platform.stack)
    if prepared is None or runtime not in ("htp", "htp_fp16"):
        raise HexsimError(
            f"nothing of '{model.name}' runs on a tensor processor of {platform.chip.name}; name a "
            "chip of V68 or later, as sm8650"
        )
    record = GraphRecord(
        *(platform.chip.name, platform.stack.name, runtime, platform.chip.htp.vtcm_bytes),
        layers=plan.layers_on("htp"),
        binary_bytes=round(prepared.binary_bytes.value),
    )
    others = (graph for graph in model.graphs if str(graph) != str(record))
    return replace(model, graphs=(*others, record))
