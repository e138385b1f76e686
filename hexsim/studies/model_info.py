"""What is known of a model layer by layer, with times and memory on a chip.

What only times and memory need is imported for these, so that a list of layers starts fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hexsim.dlc import Container
from hexsim.dlc.inspection import LETTERS, inspect
from hexsim.dlc.loading import required_imports
from hexsim.planning.sections import hta_sections
from hexsim.results.costs import Loss
from hexsim.results.fields import taken
from hexsim.results.info import Info, InfoLayer, LayerTimes, MemoryOn
from hexsim.results.validation import RescaledWeight
from hexsim.runtimes import Runtime, RuntimeChoice

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.quantization.model import Model

DEFAULT_CHIP = "sd835"
"""The chip of the memory, where none is named."""


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
    if memory is not None:
        answer = _with_memory(answer, read.model, platform, memory)
    return answer if chip is None else _on_chip(answer, read, platform, runtime)


def info_of(source: str, read: Container) -> Info:
    """Return the list of layers, without reading weights; `source` is how the user named it."""
    model, network = read.model, read.model.network
    rows = inspect(model)
    steps = {name: network.input_format(name).pictures for name in network.inputs}
    return Info(
        source=source,
        network=network.name,
        quantized=model.quantized,
        metadata=read.metadata,
        layers=tuple(
            taken(InfoLayer, row, runtimes=tuple(LETTERS[letter] for letter in row.runtimes))
            for row in rows
        ),
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
    from hexsim.studies.inferences import memory_use

    platform.require(model, runtime)
    deployment = Deployment(model, platform, runtime)
    needed = deployment.memory()
    place = {"runtime": runtime, "chip": platform.chip.name}
    return replace(
        answer,
        memory=taken(MemoryOn, memory_use(needed), **place),
        prepared=prepared_graph(deployment.plan, needed, platform.stack),
    )


def _on_chip(answer: Info, read: Container, platform: Platform, chosen: RuntimeChoice) -> Info:
    """Add times, losses, and weights that the chip's DSP rescales."""
    from hexsim.accuracy.rescaling import rescaling_losses
    from hexsim.deployment import Deployment
    from hexsim.deployment.findings import findings_of
    from hexsim.deployment.given import GivenModel, Preparation, runtime_on

    model, runtime = read.model, runtime_on(platform, chosen, answer.source)
    rescaled = None
    if model.quantized and "dsp" in platform.runtimes:
        signed = Deployment(model, platform, "dsp").signed_layers
        losses = rescaling_losses(model, signed)
        rescaled = tuple(taken(RescaledWeight, loss) for loss in losses)
    loaded = GivenModel(answer.source, read, platform, Preparation(quantize=True))
    deployment = loaded.deployment(runtime)
    times = deployment.simulate()
    return replace(
        answer,
        rescaled_weights=rescaled,
        findings=tuple(taken(Loss, loss) for loss in findings_of(deployment)),
        times=LayerTimes(
            runtime=runtime,
            chip=platform.chip.name,
            total_us=times.total_us,
            layers_us={layer.name: layer.us for layer in times.layers},
        ),
    )
