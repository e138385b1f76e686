"""What is known of a model layer by layer, with times and memory on a chip.

What only times and memory need is imported for these, so that a list of layers starts fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hexsim.dlc import Container
from hexsim.dlc.loading import required_imports
from hexsim.errors import note, spelled
from hexsim.planning.sections import hta_sections
from hexsim.results.info import TARGETS, Info, LayerTimes, MemoryOn
from hexsim.runtimes import DEFAULT_CHIP, LayerTarget, Runtime, RuntimeChoice, assumed
from hexsim.studies.inspection import inspect
from hexsim.texts.fields import taken

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.quantization.model import Model


def answered(
    read: Container,
    source: str,
    chip: str | Path | None,
    runtime: RuntimeChoice,
    memory: Runtime | None,
    *,
    imports: bool,
) -> Info:
    """Return what is asked about the model `read` from `source`, as `info` does."""
    answer = info_of(source, read)
    if imports:
        answer = replace(answer, imports=required_imports(read, source))
    if memory is None and chip is None:
        return answer
    from hexsim.deployment.platform import Platform

    platform = Platform.load(chip or DEFAULT_CHIP)
    if chip is None:
        note(assumed(platform.chip.name, f"no {spelled('chip')} is given"))
    if memory is not None:
        answer = _with_memory(answer, read.model, platform, memory)
    return answer if chip is None else _on_chip(answer, read, platform, runtime)


def info_of(source: str, read: Container) -> Info:
    """Return the list of layers, without reading weights; `source` is how the user named it."""
    model, network = read.model, read.model.network
    targets = tuple(TARGETS.values())
    rows = inspect(model, targets)
    steps = {name: network.input_format(name).pictures for name in network.inputs}
    return Info(
        source=source,
        network=network.name,
        quantized=model.quantized,
        metadata=read.metadata,
        layers=rows,
        targets=targets,
        rules="SNPE 1.x, htp by QNN 2.x",
        total_parameters=network.total_parameters,
        total_macs=network.total_macs,
        layers_used=tuple(sorted({row.kind.upper() for row in rows})),
        hta_sections=tuple(hta_sections(model)),
        graphs=model.graphs,
        pictures={name: str(how) for name, how in steps.items() if how},
    )


def _with_memory(answer: Info, model: Model, platform: Platform, runtime: Runtime) -> Info:
    """Add the memory of an inference; a float network is quantised by default if necessary."""
    from hexsim.deployment import Deployment
    from hexsim.deployment.prepared_graph import prepared_graph

    platform.require(model, runtime)
    deployment = Deployment(model, platform, runtime)
    needed = deployment.memory()
    place = {"runtime": runtime, "chip": platform.chip.name}
    return replace(
        answer,
        memory=taken(MemoryOn, needed, **place),
        prepared=prepared_graph(deployment.plan, needed, platform.stack),
    )


def _on_chip(answer: Info, read: Container, platform: Platform, chosen: RuntimeChoice) -> Info:
    """Add times, losses, and weights that the chip's DSP rescales."""
    from hexsim.accuracy.rescaling import rescaling_losses
    from hexsim.deployment import Deployment
    from hexsim.deployment.findings import findings_of
    from hexsim.deployment.source_model import Preparation, SourceModel, runtime_on

    model, runtime = read.model, runtime_on(platform, chosen, answer.source)
    rescaled = None
    if model.quantized and "dsp" in platform.runtimes:
        signed = Deployment(model, platform, "dsp").signed_layers
        rescaled = rescaling_losses(model, signed)
    loaded = SourceModel(answer.source, read, platform, Preparation(quantize=True))
    deployment = loaded.deployment(runtime)
    times = deployment.simulate()
    known: tuple[LayerTarget, ...] = platform.runtimes
    targets = tuple(each for each in TARGETS.values() if each in (*known, "hta"))
    if "aip" not in known:
        targets = tuple(each for each in targets if each != "hta")
    return replace(
        answer,
        layers=inspect(model, targets, platform.operators),
        targets=targets,
        rules=f"{platform.stack.name} on {platform.chip.name}",
        rescaled_weights=rescaled,
        findings=findings_of(deployment),
        times=LayerTimes(
            runtime=runtime,
            chip=platform.chip.name,
            total_us=times.total_us,
            layers_us={layer.name: layer.us for layer in times.layers},
        ),
    )
