"""`snpe-net-run` writes the outputs of a network for a list of inputs, and a log of the run.

`snpe-diagview` prints the log. `qnn-net-run` and `qnn-profile-viewer` do the same for QNN.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import FILE, INPUT_LIST, MODEL, OUTPUT, Writes
from hexsim.cli._inputs import print_losses, remark_run
from hexsim.cli._say import remark, say
from hexsim.cli._signature import grouped
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.snpe import runtimes
from hexsim.snpe.backend_config import ConfiguredHardware
from hexsim.snpe.buffers import Buffers
from hexsim.snpe.option import Level, tools
from hexsim.snpe.runtimes import ModelLibrary, check_model_library
from hexsim.snpe.words import version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hexsim.datasheets.stacks import BufferType
    from hexsim.deployment import Deployment
    from hexsim.deployment.platform import Platform
    from hexsim.dlc import Container
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource


@dataclass(frozen=True)
class Runs(ConfiguredHardware):
    """The runtime, and the settings of the run."""

    runtime: list[str] | None = None
    gpu_mode: str = "default"
    runtime_order: str | None = None
    cpu_fallback: bool = False
    perf_profile: str = "default"
    profiling_level: Level = "detailed"
    model_library: ModelLibrary = None

    def choice(self, platform: Platform, *, quantized: bool) -> runtimes.RuntimeChoice:
        """Return the runtime that the options select for a network."""
        if self.runtime_order is not None:
            return runtimes.ordered(self.runtime_order, platform, quantized=quantized)
        runtime = runtimes.flagged(self.runtime or (), self.gpu_mode, platform, quantized=quantized)
        return runtimes.RuntimeChoice(runtime, self.cpu_fallback)


@dataclass(frozen=True)
class Wanted:
    """The tensors to write, and the shapes of inputs."""

    set_output_tensors: str = ""
    unconsumed: bool = False
    debug: bool = False
    input_name: list[str] | None = None
    input_dimensions: list[str] | None = None

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the inputs for which one is given."""
        from hexsim.cli._options import parse_input_dims

        names, dims = self.input_name or [], self.input_dimensions or []
        if len(names) != len(dims):
            raise HexsimError(
                "--input_name and --input_dimensions come in pairs, and there are "
                f"{len(names)} and {len(dims)}"
            )
        return parse_input_dims([f"{name} {dim}" for name, dim in zip(names, dims, strict=True)])

    def tensors(self, network: Network, source: InputSource) -> tuple[str, ...]:
        """Return the names of the tensors to write."""
        from hexsim.execution.net_run import wanted

        chosen = [name for name in self.set_output_tensors.split(",") if name]
        named = (*source.output_tensors, *chosen)
        layers = source.output_layers
        selected = wanted(network, layers, named, every=self.debug, reported=remark)
        if not self.unconsumed:
            return selected
        read = {name for layer in network.layers for name in layer.inputs}
        outputs = [name for layer in network.layers for name in layer.outputs]
        return tuple(dict.fromkeys((*selected, *(name for name in outputs if name not in read))))


@grouped
def net_run(
    *,
    container: Annotated[str, typer.Argument(), MODEL],
    input_list: Annotated[Path, typer.Option("--input-list"), INPUT_LIST],
    output_dir: Annotated[Path, typer.Option("--output-dir"), Writes(folder=True)] = Path("output"),
    runs: Runs,
    buffers: Buffers,
    wanted: Wanted,
) -> None:
    """Run every input of a list; write outputs and log."""
    from hexsim.deployment.at_load import is_coded
    from hexsim.deployment.source_model import Preparation, SourceModel
    from hexsim.execution.net_run import run as run_all
    from hexsim.inputs.source import listed, padding

    check_model_library(runs.model_library)
    platform = runs.platform()
    read = _read(container, wanted.shapes())
    choice = runs.choice(platform, quantized=is_coded(read.model, platform))
    runtimes.remark_profile(choice.runtime, runs.perf_profile)
    if wanted.debug and choice.runtime == "aip":
        raise HexsimError("--debug is not for aip, as on a device; leave it out")
    preparation = Preparation(cpu_fallback=choice.cpu_fallback)
    loaded = SourceModel(container, read, platform, preparation)
    deployment = loaded.deployment(choice.runtime)
    types = _native_types(buffers, deployment)
    source = listed(input_list, read.model.network, types)
    deployment = deployment.run_on(source.feeds)
    print_losses(deployment, runs.perf_profile, at_load=True)
    observed = deployment.observing(wanted.tensors(read.model.network, source))
    executor = buffers.around(observed)
    log, timed = output_dir / "SNPEDiag_0.log", buffers.timed(observed)
    write_log(log, observed, runs.perf_profile, runs.profiling_level, source.items, timed)
    remark_run(deployment, source, read.overrides, native=buffers.native_inputs)
    say(f"{RULE}\n{version(platform.stack.name)}\n{RULE}")
    if text := padding(source.items, source.batch):
        say(text.strip(" ()").capitalize())
    names = observed.network.outputs
    sized = [name for name in names if observed.network.tensors[name].varies]
    stored = executor.output_types
    run_all(executor, source, output_dir, names, announce, sized, say, stored)


def _read(container: str, shapes: Mapping[str, tuple[int, ...]]) -> Container:
    """Read the model; `shapes` of inputs are in stored order, as in their files."""
    from hexsim.dlc.loading import load_container

    read = load_container(container)
    dims = {}
    for name, shape in shapes.items():
        tensor = read.model.network.tensors.get(name)
        order = tensor.order if tensor is not None and len(tensor.shape) == len(shape) else ()
        at = {axis: size for axis, size in zip(order, shape, strict=False)}
        dims[name] = tuple(at[axis] for axis in sorted(at)) or shape
    return load_container(container, input_dims=dims) if dims else read


def _native_types(buffers: Buffers, deployment: Deployment) -> dict[str, str]:
    """Return the types of the numbers in native input files."""
    if not buffers.native_inputs:
        return {}
    return {name: input_.type for name, input_ in buffers.inputs(deployment).items()}


RULE = "-" * 79
"""The line around the version, as the real tool prints it."""


def announce(files: Sequence[str]) -> None:
    """Print the files that the next inference reads."""
    say("\n".join(("Processing DNN input(s):", *files)))


def write_log(
    path: Path,
    deployment: Deployment,
    perf_profile: str,
    level: Level,
    inferences: int,
    buffer: BufferType | None = None,
) -> None:
    """Simulate one inference and write its log; level off writes no file."""
    from hexsim.files.atomic_write import write_bytes
    from hexsim.snpe.diag_log import simulated_log

    if level != "off":
        text = simulated_log(deployment, perf_profile, level, inferences, buffer)
        write_bytes(path, text.encode(), parents=True)


def diagview(
    log: Annotated[Path, typer.Argument(help="The log."), FILE],
    output: Annotated[Path | None, "Write the rows as CSV.", OUTPUT] = None,
) -> None:
    """Print the figures of a log."""
    from hexsim.files.atomic_write import write_bytes
    from hexsim.snpe.diag_log import diag_csv, diag_text, read_diag_log

    head, rows = read_diag_log(log)
    if output is not None:
        write_bytes(output, diag_csv(rows).encode())
    say(diag_text(head, rows, time.ctime(log.stat().st_mtime)))


TOOLS = tools(
    {
        "snpe-net-run": net_run,
        "qnn-net-run": net_run,
        "snpe-diagview": diagview,
        "qnn-profile-viewer": diagview,
    }
)
