"""`hexsim info` lists the layers of a .dlc or ONNX file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hexsim.cli._completion import runtime_names
from hexsim.cli._files import CHIP
from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    InputDimOption,
    InputValueOption,
    ModelArgument,
    OutNameOption,
    parse_input_dims,
    parse_input_values,
    parse_runtime,
)
from hexsim.cli._output import JsonCsv
from hexsim.cli._overrides import print_losses
from hexsim.cli._page import paged
from hexsim.cli._say import is_logged, say
from hexsim.errors import HexsimError, spelled

if TYPE_CHECKING:
    from hexsim.dlc import Container
    from hexsim.quantization.model import Model
    from hexsim.reports.inference.memory import NeededOn
    from hexsim.reports.network.compact import TimedOn
    from hexsim.results.validation import RescaledWeight
    from hexsim.runtimes import Runtime

EXAMPLES = {
    "info": (
        "hexsim info model.onnx",
        "hexsim info model.onnx --chip sd855",
        "hexsim info model.dlc --layout snpe",
    ),
}


@dataclass(frozen=True)
class Timed:
    """The chip and the runtime of the times."""

    HEADING = "Times"

    chip: Annotated[
        str | None,
        typer.Option(
            "--chip",
            help="Also show the time of each layer on the chip, and the cost of rescaling "
            "quantised weights for its DSP; with --memory, the chip to use.",
        ),
        CHIP,
    ] = None
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime",
            help="The runtime of the times; default: the first that the chip has of htp, dsp, gpu "
            "and cpu.",
            autocompletion=runtime_names,
        ),
    ] = None

    def asked(self) -> Runtime | None:
        """Read the name of the runtime; None stands for the chip's first."""
        if self.runtime is None:
            return None
        if self.chip is None:
            raise HexsimError(
                f"{spelled('runtime')} is for the times on a chip; give {spelled('chip')} too"
            )
        return parse_runtime(self.runtime)

    def times(self, model: str, read: Container) -> TimedOn | None:
        """Return the times, if a chip is named; a float network is quantised where necessary."""
        if self.chip is None:
            return None

        from hexsim.cli._simulated import preferred
        from hexsim.deployment.given import GivenModel, Preparation
        from hexsim.deployment.platform import Platform
        from hexsim.reports.network.compact import TimedOn

        platform = Platform.load(self.chip)
        runtime = self.asked() or preferred(platform.runtimes)
        given = GivenModel(model, read, platform, Preparation(quantize=True))
        deployment = given.deployment(runtime)
        print_losses(deployment)
        return TimedOn(platform.chip.name, runtime, deployment.simulate())


@dataclass(frozen=True)
class Shape:
    """What changes the network before it is listed."""

    HEADING = "Network"

    input_dim: InputDimOption = None
    input_value: InputValueOption = None
    out_name: OutNameOption = None

    def read(self, model: str) -> Container:
        """Load the model."""
        from hexsim.dlc.loading import load_container

        return load_container(
            model,
            input_dims=parse_input_dims(self.input_dim),
            input_values=parse_input_values(self.input_value),
            output_names=self.out_name or (),
        )


@paged
@grouped
def info(
    *,
    model: ModelArgument,
    on: Timed,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="RUNTIME",
            help="Also show the memory of an inference on this runtime, layer by layer.",
        ),
    ] = None,
    imports: Annotated[
        bool,
        typer.Option(
            "--imports", help="Also show the layers made of an ONNX file's nodes, and why."
        ),
    ] = False,
    shape: Shape,
    layout: Annotated[
        Literal["compact", "snpe"],
        typer.Option("--layout", help="compact, or snpe: as snpe-dlc-info, with encodings."),
    ] = "compact",
    outputs: JsonCsv,
) -> None:
    """List the layers: shapes, runtimes, parameters, MACs, times on a chip.

    No weight is read, unless --chip is given.
    """
    on.asked()
    from hexsim.dlc.loading import required_imports
    from hexsim.reports.network.data import info_csv, info_facts

    read, chip = shape.read(model), on.chip
    needed = None if memory is None else _memory(read.model, memory, chip or "sd835")
    losses = _losses(read.model, chip) if chip is not None and read.model.quantized else None
    timed = on.times(model, read)
    import_report = required_imports(read, model) if imports else None
    outputs.write(
        json=lambda: info_facts.json(model, read, losses, import_report, needed, timed),
        csv=lambda: info_csv(read, needed),
    )
    if layout == "snpe" or is_logged():
        from hexsim.reports.network.table import info_table

        say(info_table(model, read, needed))
    else:
        from hexsim.reports.network.compact import info_compact

        say(info_compact(model, read, timed, needed))
    if import_report is not None:
        from hexsim.reports.network.imports import imports_table

        say("\n" + imports_table(import_report))
    if losses is not None:
        from hexsim.reports.network.rescaling import rescaling_table

        say("\n" + rescaling_table(losses, str(chip)))


def _memory(model: Model, runtime: str, chip: str) -> NeededOn:
    """Return the memory of an inference; a float network is quantised by default if necessary."""
    from hexsim.deployment import Deployment
    from hexsim.deployment.platform import Platform
    from hexsim.deployment.prepared_graph import prepared_graph
    from hexsim.reports.inference.memory import NeededOn

    platform, target = Platform.load(chip), parse_runtime(runtime)
    platform.require(model, target)
    deployment = Deployment(model, platform, target)
    needed, plan = deployment.memory(), deployment.plan
    prepared = prepared_graph(plan, needed, platform.stack)
    return NeededOn(target, platform.chip.name, needed, prepared)


def _losses(model: Model, chip: str) -> tuple[RescaledWeight, ...] | None:
    """Return the losses of weights that become signed on the chip's DSP; None if it has none."""
    from hexsim.accuracy.rescaling import rescaling_losses
    from hexsim.deployment import Deployment
    from hexsim.deployment.platform import Platform
    from hexsim.results.fields import taken
    from hexsim.results.validation import RescaledWeight

    platform = Platform.load(chip)
    if "dsp" not in platform.runtimes:
        return None
    losses = rescaling_losses(model, Deployment(model, platform, "dsp").signed_layers)
    return tuple(taken(RescaledWeight, loss) for loss in losses)
