"""`hexsim MODEL` or `hexsim overview MODEL` gives the answer on a model in one block."""

from typing import Annotated

import typer

from hexsim.cli._completion import runtime_names
from hexsim.cli._groups import grouped
from hexsim.cli._options import InputDimOption, ModelArgument, parse_input_dims, parse_runtime
from hexsim.cli._say import say
from hexsim.cli._simulated import Hardware
from hexsim.runtimes import preferred

EXAMPLES = {
    "overview": ("hexsim mobilenet_v2 --chip sd855", "hexsim model.onnx --chip sd8gen2"),
}


@grouped
def overview(
    *,
    model: ModelArgument,
    hardware: Hardware,
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime",
            help="One runtime; default: the first that the chip has of htp, dsp, gpu and cpu.",
            autocompletion=runtime_names,
        ),
    ] = None,
    input_dim: InputDimOption = None,
) -> None:
    """Show the answer on a model in one block, as `hexsim MODEL` does.

    It has the latency with its interval, the peak of memory, the engines, the layers that take
    most of the time, and the next step.
    """
    platform = hardware.platform()

    from hexsim.cli._progress import status
    from hexsim.deployment.given import Preparation
    from hexsim.reports.benchmark.overview import overview as overview_text
    from hexsim.studies.benchmark import BenchmarkConditions, run_case

    conditions = BenchmarkConditions(
        preparation=Preparation(quantize=True, faster_hta=True),
        sweep="a few draws",
        accuracy=False,
        input_dims=parse_input_dims(input_dim),
    )
    target = preferred(platform.runtimes) if runtime is None else parse_runtime(runtime)
    with status() as progress:
        case = run_case(model, platform, target, conditions, progress)
    say(overview_text(case))
