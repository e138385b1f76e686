"""`hexsim bench` compares networks on the runtimes of a chip, and with measured values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hexsim.cli._files import CHIPS, MODEL, separated
from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import RuntimesOption
from hexsim.cli._output import JsonCsvTraceHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import Keywords, Reads, grouped, paged
from hexsim.cli._simulated import Circumstances, Software, Workers
from hexsim.records import dataclass
from hexsim.runtimes import DEFAULT_CHIP

if TYPE_CHECKING:
    from hexsim.results.benchmark import Inference, Refusal

ModelsOption = Annotated[
    list[str] | None, ".dlc or ONNX file or built-in network; repeatable.", MODEL
]
ModelArguments = Annotated[
    list[str] | None,
    typer.Argument(
        help=".dlc or ONNX files or built-in networks, as with --model; default: the networks of "
        "the published Snapdragon 835 benchmark."
    ),
    MODEL,
]
DEFAULT_MODELS = ("alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1")
"""The networks of the published Snapdragon 835 benchmark."""

EXAMPLES = {
    "bench": (
        "hexsim bench mobilenet_v2 --chip sd855",
        "hexsim bench model.onnx --runtime dsp,gpu --timing-only",
        "hexsim bench model.onnx --chip sd855,sd8gen2",
    )
}


@dataclass(frozen=True)
class Networks:
    """The networks that are asked for, as arguments or as options."""

    models: ModelArguments = None
    model: ModelsOption = None

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, arguments first; those of the published benchmark if none is given."""
        return (*(self.models or ()), *(self.model or ())) or DEFAULT_MODELS


_DRAWS = 200
"""Default number of draws, that of `hexsim.benchmark`."""


@dataclass(frozen=True)
class Place(Keywords):
    """The chips, and their runtimes."""

    HEADING = "Chip and software"

    chips: Annotated[
        str | list[str],
        Reads(str, separated),
        typer.Option("--chip", help="Names or TOML files of chips, comma separated."),
        CHIPS,
    ] = DEFAULT_CHIP
    runtime: RuntimesOption = None


@dataclass(frozen=True)
class Studies(Workers):
    """The studies besides latencies, and their workers."""

    HEADING = "Studies"

    timing_only: Annotated[bool, "Simulate time only; compute no values and no accuracy."] = False
    uncertainty: Annotated[
        Literal["one", "joint"] | None,
        "How times get their intervals; by default all constants in doubt are drawn "
        "a dozen times. one: they are changed one at a time, which shows which of them matter. "
        "joint: many draws, which show how certain the order of runtimes is.",
    ] = None
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, max=100_000, help=f"Number of draws of --uncertainty joint; default: {_DRAWS}."
        ),
    ] = None


@dataclass(frozen=True)
class Shown:
    """What is printed of the studies."""

    HEADING = "Studies"

    left_out: Annotated[
        bool,
        "Show beside measured times those of constants that were fitted without the "
        "measured times of this chip; a dash where no other chip was measured.",
    ] = False
    rank: Annotated[Literal["simulated", "measured"], "Times by which runtimes are ranked."] = (
        "simulated"
    )


@paged
@grouped
def bench(
    *,
    networks: Networks,
    place: Place,
    software: Software,
    circumstances: Circumstances,
    inputs: LabelledInputs,
    studies: Studies,
    shown: Shown,
    outputs: JsonCsvTraceHtml,
) -> None:
    """Benchmark networks: latency per runtime, measured values, agreement with float."""
    from hexsim.api.benchmark import benchmark
    from hexsim.reports.benchmark import benchmark_text, network_table, rest_text
    from hexsim.reports.trace import benchmark_trace
    from hexsim.results.benchmark import Inference

    by_measured = shown.rank == "measured"
    several = not isinstance(place.chips, str) and len(place.chips) > 1
    at_once = outputs.writes_files or by_measured or several  # the verdict on all stands first

    def print_table(results: Sequence[Inference | Refusal]) -> None:
        known = [result for result in results if isinstance(result, Inference)]
        if known and not at_once:  # a closed pipe may end the command here
            TERMINAL.print_above(network_table(known, left_out=shown.left_out) + "\n")

    with TERMINAL.status():
        answer = benchmark(
            networks.names,
            on_results=print_table,
            recorded=outputs.trace is not None,
            **place.keywords(),
            **software.keywords(),
            **circumstances.keywords(),
            **inputs.keywords(),
            **studies.keywords(),
        )
    outputs.write(answer, trace=lambda: benchmark_trace(answer.results))
    if at_once:
        say(benchmark_text(answer, left_out=shown.left_out, by_measured=by_measured))
    else:
        say(rest_text(answer))
