"""`hexsim run`: the outputs of a network for a list of inputs, written as snpe-net-run does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hexsim import __version__
from hexsim.cli._groups import grouped
from hexsim.cli._inputs import Inputs
from hexsim.cli._options import (
    InputDimOption,
    NoFallbackOption,
    OverrideParamsOption,
    ThreadsOption,
    TraceOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._overrides import tell_use
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError

RULE = "-" * 79
"""Frames the version, as the real tool's does."""


@grouped
def run(
    *,
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    inputs: Inputs,
    hardware: Hardware,
    runtime: Annotated[str, typer.Option("--runtime", help="One runtime.")] = "dsp",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for Result_0, Result_1, ...")
    ] = Path("output"),
    set_output_tensors: Annotated[
        str | None,
        typer.Option("--set-output-tensors", help="Tensors to write: a,b; default: the outputs."),
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Write the output of every layer (not on aip).")
    ] = False,
    input_dim: InputDimOption = None,
    no_cpu_fallback: NoFallbackOption = False,
    override_params: OverrideParamsOption = False,
    threads: ThreadsOption = 0,
    trace: TraceOption = None,
) -> None:
    """Run every input of a list (or folder of pictures) and write the outputs as raw floats."""
    from hexsim.container.loading import applied_overrides, load_container
    from hexsim.deployment import AtLoad, deploy
    from hexsim.execution.net_run import run as run_all
    from hexsim.execution.net_run import wanted
    from hexsim.files import write_text
    from hexsim.quantization.overrides.use import OverrideUse
    from hexsim.reports.trace import trace_json

    require_outputs((trace,), (model, inputs.input_list))
    if inputs.input_list is None and inputs.images is None:
        raise HexsimError("hexsim run needs inputs; give an --input-list or a folder of --images")
    platform, asked = hardware.platform(), parse_runtime(runtime)
    if debug and asked == "aip":
        raise HexsimError("--debug is not for aip, as on a device; leave it out")
    read = load_container(model, input_dims=parse_input_dims(input_dim))
    overrides = applied_overrides(read, model, asked=override_params)
    network = read.model.network
    source = inputs.source(network)
    chosen = [name for name in (set_output_tensors or "").split(",") if name]
    names = wanted(network, source.output_layers, (*source.output_tensors, *chosen), every=debug)
    at_load = AtLoad(network, platform, overrides=overrides)
    fallback = not no_cpu_fallback
    deployment = deploy(read.model, platform, asked, cpu_fallback=fallback, at_load=at_load)
    observed = deployment.observing(names)
    executor = observed.executor(threads)
    if trace is not None:
        name = f"{network.name} on {platform.chip.name} {asked}"
        write_text(trace, trace_json([(name, observed.simulate(recorded=True))]))
    if deployment.quantises:
        tell_use(network.name, OverrideUse.of(read.overrides, deployment.overrides))
    typer.echo(f"{RULE}\nhexsim v{__version__}\n{RULE}")
    run_all(executor, source, output, names, _announce)


def _announce(files: Sequence[str]) -> None:
    typer.echo("\n".join(("Processing DNN input(s):", *files)))
