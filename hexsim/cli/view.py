"""`hexsim view` writes a page for a browser about a .dlc or ONNX file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hexsim.cli._files import CHIP, INPUT_LIST, Writes
from hexsim.cli._inputs import JudgingInputs, print_losses
from hexsim.cli._options import (
    AUTO,
    RUNTIME_OR_AUTO,
    InputDimsOption,
    InputValuesOption,
    ModelArgument,
    OutputNamesOption,
)
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped
from hexsim.errors import HexsimError, spelled, step
from hexsim.records import dataclass
from hexsim.runtimes import RuntimeChoice

if TYPE_CHECKING:
    from hexsim.dlc import Container
    from hexsim.reports.pages.network_page import Simulated


def _target(values: Mapping[str, Any]) -> Path:
    return beside_model(values, f"{Path(values['model']).name}.html")


@dataclass(frozen=True)
class ViewPage(Outputs):
    """The page."""

    output: Annotated[
        Path | None, "File to write; default: the model's name and .html.", Writes(_target)
    ] = None


@dataclass(frozen=True)
class Painted(JudgingInputs):
    """The chip and runtime whose times the drawing may show, and inputs to show errors on."""

    HEADING = "Chip and software"

    input_list: Annotated[
        Path | None,
        "Text file that names raw inputs, on which each layer's error becomes a colour.",
        INPUT_LIST,
    ] = None
    chip: Annotated[str | None, "Simulate on this chip: time and engine become colours.", CHIP] = (
        None
    )
    runtime: Annotated[RuntimeChoice, RUNTIME_OR_AUTO, f"With --chip; {AUTO}."] = "auto"

    def simulated(self, source: str, read: Container) -> Simulated | None:
        """Simulate the model, quantised if its runtime needs that; None without a chip."""
        from hexsim.accuracy.validation import validate
        from hexsim.deployment.platform import Platform
        from hexsim.deployment.source_model import Preparation, SourceModel, runtime_on
        from hexsim.reports.pages.network_page import Simulated
        from hexsim.runtimes import placed
        from hexsim.studies.judging import require_inputs, roles_of
        from hexsim.studies.remedies import remedied

        how = JudgingInputs.keywords(self)
        has_inputs = require_inputs(how, "calibration")
        if self.chip is None:
            if self.runtime != "auto" or has_inputs:
                options = ", ".join(map(spelled, ("runtime", "input_list", "images")))
                raise HexsimError(f"{options} go with {spelled('chip')}; give that too")
            return None
        platform = Platform.load(self.chip)
        runtime = runtime_on(platform, self.runtime, source)
        loaded = SourceModel(source, read, platform, Preparation.of({}))
        inputs = None
        if has_inputs:
            inputs = roles_of(how, read.model, loaded.overrides, [runtime])
            loaded.calibrate_on(inputs)
        deployment = loaded.deployment(runtime)
        validation = None
        if inputs is not None:
            judging = inputs.judging
            feeds = judging.feeds()
            validation = validate(deployment, feeds, batch=judging.batch, items=judging.items)
        print_losses(deployment, at_load=validation is not None)
        say(placed(read.model.name, runtime, platform.chip.name, loaded.precision(deployment)))
        timing = remedied(deployment, deployment.simulate())
        return Simulated(f"{platform.chip.name} {runtime}", timing, validation)


@grouped
def view(
    *,
    model: ModelArgument,
    input_dims: InputDimsOption = None,
    input_values: InputValuesOption = None,
    output_names: OutputNamesOption = (),
    painted: Painted,
    outputs: ViewPage,
) -> None:
    """Write an HTML page: the drawing, and each layer's attributes, encodings and weights.

    It is one file that needs no network and names no folder. Weights are read and counted.
    """
    from hexsim.dlc.loading import load_container
    from hexsim.reports.pages.network_page import network_page

    read = load_container(
        model,
        input_dims=input_dims or {},
        input_values=input_values or {},
        output_names=output_names,
    )
    with TERMINAL.status():
        simulated = painted.simulated(model, read)
        step(f"counting the weights of {read.model.name}")
        outputs.write(output=lambda: network_page(Path(model).name, read, simulated))
    say(f"wrote {outputs.output}")
