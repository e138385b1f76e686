"""`snpe-dlc-graph-prepare` and `qnn-context-binary-generator` prepare a network for an HTP.

What a record of the real tools holds is not published. So the file gets none of its bytes: it says
for which chips the graph is prepared, whose initialisation is then short, and the graph is compiled
whenever it is simulated. What the compiled graph reads and keeps is printed, with estimates of the
record's size and of the time and memory to prepare it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._files import INPUT_LIST, MODEL, Writes
from hexsim.cli._output import beside_model
from hexsim.cli._say import log, remark, say
from hexsim.cli._signature import grouped
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError, unknown
from hexsim.records import dataclass, replace
from hexsim.snpe import runtimes
from hexsim.snpe.backend_config import ConfiguredHardware
from hexsim.snpe.option import tools
from hexsim.snpe.runtimes import ModelLibrary, check_model_library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hexsim.deployment.platform import Platform
    from hexsim.dlc import Container
    from hexsim.quantization.model import Model


def _target(values: Mapping[str, Any]) -> Path:
    return beside_model(values, f"{Path(values['model']).stem}_cached.dlc")


@dataclass(frozen=True)
class Outputs:
    """The tensors that are to be the outputs of the graph."""

    input_list: Annotated[Path | None, INPUT_LIST] = None
    set_output_tensors: str = ""

    def of(self, container: Container) -> Container:
        """Return the network with these outputs, without layers that none of them needs."""
        from hexsim.execution.net_run import wanted
        from hexsim.inputs.source import listed

        network = container.model.network
        tensors = [name for name in self.set_output_tensors.split(",") if name]
        layers: tuple[str, ...] = ()
        if self.input_list is not None:
            source = listed(self.input_list, network)
            layers, tensors = source.output_layers, [*source.output_tensors, *tensors]
        names = wanted(network, layers, tensors, every=False, reported=remark)
        return replace(container, model=_ending_at(container.model, names))


def _ending_at(model: Model, names: tuple[str, ...]) -> Model:
    """Return the model with other outputs and what they need; HexsimError if that cuts its HTA."""
    from hexsim.passes.rearrangements import remove_dead_code

    network = remove_dead_code(replace(model.network, outputs=names))
    if model.hta and network.layers != model.network.layers:
        raise HexsimError(
            f"'{model.name}' has sections for the HTA of AIP, which end at its own outputs; "
            "quantise it without --enable_hta"
        )
    kept = {*network.tensors, *network.constants}
    return replace(
        model,
        network=network,
        graphs=() if network != model.network else model.graphs,
        activations={n: e for n, e in model.activations.items() if n in kept},
        parameters={n: e for n, e in model.parameters.items() if n in kept},
        floats={n: bits for n, bits in model.floats.items() if n in kept},
    )


@dataclass(frozen=True)
class Chips(Hardware):
    """The chips to compile for, by part number or by the architecture of their processor."""

    socs: str | None = None
    archs: str | None = None

    def platforms(self) -> list[Platform]:
        """Return the chips that are named with their software; without a name that of --chip."""
        from hexsim.deployment.platform import Platform

        names = [name for name in (self.socs or "").split(",") if name]
        names += [_of_arch(arch) for arch in (self.archs or "").split(",") if arch]
        platforms = [Platform.load(name, self.stack) for name in names]
        return [platform.with_vtcm(self.vtcm_mb) for platform in platforms] or [self.platform()]


def _of_arch(arch: str) -> str:
    """Return a chip with a tensor processor of an architecture: a phone's, if there is one."""
    from hexsim.datasheets import chips

    known = (chip for chip in map(chips.load, sorted(chips.names())) if not chip.like)
    of = {chip.htp.arch: chip.name for chip in known if "htp" in chip.runtimes}
    if arch not in of:
        raise unknown("architecture of a tensor processor", arch, of)
    return of[arch]


@grouped
def graph_prepare(
    *,
    model: Annotated[str, typer.Argument(), MODEL],
    output: Annotated[Path | None, Writes(_target)] = None,
    outputs: Outputs,
    chips: Chips,
) -> None:
    """Compile the graph of a network for tensor processors, and write the network."""
    from hexsim.dlc.loading import load_container

    assert output is not None
    _prepare(model, outputs.of(load_container(model)), output, chips.platforms())


@grouped
def context_binary(
    *,
    model: Annotated[str, typer.Argument(), MODEL],
    binary_file: Annotated[str, typer.Option("--binary-file")],
    output_dir: Annotated[Path, typer.Option("--output-dir"), Writes(folder=True)] = Path("output"),
    model_library: ModelLibrary = None,
    hardware: ConfiguredHardware,
) -> None:
    """Compile the graph of a network for the tensor processor of a chip, and write the network."""
    from hexsim.dlc.loading import load_container

    check_model_library(model_library)
    if Path(binary_file).name != binary_file:
        raise HexsimError(f"--binary_file '{binary_file}' is a name without folders")
    target = output_dir / f"{binary_file}.bin"
    _prepare(model, load_container(model), target, [hardware.platform()], parents=True)


def _prepare(
    model: str,
    container: Container,
    output: Path,
    platforms: Sequence[Platform],
    *,
    parents: bool = False,
) -> None:
    """Compile the graph for each platform, write the network, and print what was compiled."""
    from hexsim import dlc

    lines = []
    for platform in platforms:
        prepared, line = _prepared(model, container, platform)
        container = replace(container, model=prepared)
        lines.append(line)
    dlc.write(output, container.model, container.metadata, container.overrides, parents=parents)
    for line in lines:
        say(line)
    log(
        "INFO",
        "the file says for what its graph is prepared; it has no bytes of a record, because "
        "what one holds is not published",
    )


def _prepared(source: str, container: Container, platform: Platform) -> tuple[Model, str]:
    """Return the model with a record of its graph on one chip, and the lines about that."""
    from hexsim.deployment.prepared_graph import prepared_graph, with_graph
    from hexsim.deployment.source_model import Preparation, SourceModel
    from hexsim.htp.compiler import compile_graph
    from hexsim.reports.inference import prepared_lines
    from hexsim.texts.figures import size

    quantized = container.model.quantized
    runtime = runtimes.on_platform("dsp", platform, quantized=quantized)
    if runtime not in ("htp", "htp_fp16"):
        raise HexsimError(
            f"{platform.chip.name} with {platform.stack.name} has no tensor processor; name a chip "
            "of V68 or later, as sm8650"
        )
    loaded = SourceModel(source, container, platform, Preparation(cpu_fallback=False))
    deployment, vtcm_bytes = loaded.deployment(runtime), platform.chip.htp.vtcm_bytes
    plan, memory = deployment.plan, deployment.memory()
    operations = [
        operation
        for subnet in plan.subnets
        for operation in compile_graph(subnet.calls, plan.network, vtcm_bytes)
    ]
    prepared = prepared_graph(plan, memory, platform.stack)
    lines = "" if prepared is None else f"\n{prepared_lines(prepared)}"
    spilled = sum(operation.spill_bytes for operation in operations)
    return with_graph(container.model, deployment), (
        f"{platform.chip.name} ({runtime}): {len(operations)} operations, VTCM of "
        f"{vtcm_bytes / 2**20:g} MB, weights of {size(memory.packed_bytes)} in its "
        f"layout, {size(spilled)} spilled and filled{lines}"
    )


TOOLS = tools(
    {"snpe-dlc-graph-prepare": graph_prepare, "qnn-context-binary-generator": context_binary}
)
