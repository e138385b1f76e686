"""`hexsim bench` compares networks on the runtimes of a chip, and with measured values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._inputs import UNJUDGED, UNLABELLED, LabelledInputs
from hexsim.cli._options import (
    InputDimOption,
    network_names,
    parse_input_dims,
    parse_runtimes,
    runtime_names,
)
from hexsim.cli._output import JsonCsvTraceHtml
from hexsim.cli._overrides import print_findings
from hexsim.cli._say import command_line, say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Comparing, Power, SeveralChips
from hexsim.cli._workers import Workers
from hexsim.errors import HexsimError
from hexsim.runtimes import RUNTIMES

if TYPE_CHECKING:
    from hexsim.cli._progress import ProgressLine
    from hexsim.deployment.given import GivenModel
    from hexsim.inputs.source import InputRoles
    from hexsim.results.benchmark import Benchmark, Inference, Refusal
    from hexsim.runtimes import Runtime
    from hexsim.studies.pool import Pool

ModelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help=".dlc or ONNX file or built-in network; repeatable.",
        autocompletion=network_names,
    ),
    MODEL,
]
ModelArguments = Annotated[
    list[str] | None,
    typer.Argument(
        help=".dlc or ONNX files or built-in networks, as with --model; default: the networks of "
        "the published Snapdragon 835 benchmark.",
        autocompletion=network_names,
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
    ),
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
class Scope(Workers, LabelledInputs):
    """The studies besides latencies, their workers, and the inputs to compare answers on."""

    HEADING = "Studies"

    timing_only: Annotated[
        bool,
        typer.Option(
            "--timing-only", help="Simulate time only; compute no values and no accuracy."
        ),
    ] = False
    uncertainty: Annotated[
        Literal["one", "joint"] | None,
        typer.Option(
            "--uncertainty",
            help="How times get their intervals; by default all constants in doubt are drawn "
            "a dozen times. one: they are changed one at a time, which shows which of them matter. "
            "joint: many draws, which show how certain the order of runtimes is.",
        ),
    ] = None
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=1,
            max=100_000,
            help=f"Number of draws of --uncertainty joint; default: {_DRAWS}.",
        ),
    ] = None

    left_out: Annotated[
        bool,
        typer.Option(
            "--left-out",
            help="Show beside measured times those of constants that were fitted without the "
            "measured times of this chip; a dash where no other chip was measured.",
        ),
    ] = False
    rank: Annotated[
        Literal["simulated", "measured"],
        typer.Option("--rank", help="Times by which runtimes are ranked."),
    ] = "simulated"

    @property
    def joint_draws(self) -> int:
        """Number of joint draws of all constants; HexsimError if a number is given without use."""
        if self.uncertainty == "joint":
            return self.draws or _DRAWS
        if self.draws is not None:
            raise HexsimError("--draws is for --uncertainty joint; give that too, or leave it out")
        return 0

    def evaluation(self, runtimes: Sequence[Runtime]) -> Callable[[GivenModel], InputRoles] | None:
        """Return a function that makes the user's inputs of a model, or None without inputs."""
        self.require_one_kind()
        if self.labels is not None and not self.has_inputs:
            raise HexsimError(UNLABELLED)
        if self.calibration_list is not None and not self.has_inputs:
            raise HexsimError(UNJUDGED)
        if self.has_inputs and self.timing_only:
            raise HexsimError(
                "--input-list and --images are what answers are compared on, which --timing-only "
                "leaves out; give one or the other"
            )
        if not self.has_inputs:
            return None
        return lambda given: self.roles(given.model, runtimes, given.overrides)

    @contextmanager
    def sharing(self) -> Iterator[Pool | None]:
        """Yield the workers for the draws; None if none were requested."""
        if not self.named:
            yield None
            return
        if not self.joint_draws:
            raise HexsimError(
                "--workers and --scheduler distribute draws; give --uncertainty joint too, or "
                "leave them out"
            )
        with self.pool() as pool:
            yield pool


@paged
@grouped
def bench(
    *,
    networks: Networks,
    hardware: SeveralChips,
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime",
            help=f"Comma separated, of {', '.join(RUNTIMES)}; default: all of the chip.",
            autocompletion=runtime_names,
        ),
    ] = None,
    power: Power,
    circumstances: Comparing,
    input_dim: InputDimOption = None,
    scope: Scope,
    outputs: JsonCsvTraceHtml,
) -> None:
    """Benchmark networks: latency per runtime, measured values, agreement with float."""
    platforms = [power.of(platform) for platform in hardware.platforms()]

    from hexsim.api.benchmark import INTERVALS
    from hexsim.cli._progress import status
    from hexsim.reports.benchmark import benchmark_csv, benchmark_tables
    from hexsim.reports.trace import benchmark_trace
    from hexsim.results.benchmark import Benchmark
    from hexsim.studies.benchmark import by_network
    from hexsim.studies.uncertainty import orders

    runtimes = parse_runtimes(runtime)
    with scope.sharing() as pool, status() as progress:
        on_chips = []
        for platform in platforms:
            chosen = runtimes or platform.runtimes
            conditions = circumstances.conditions(
                platform,
                power,
                sweep=INTERVALS[scope.uncertainty],
                draws=scope.joint_draws,
                pool=pool,
                accuracy=not scope.timing_only,
                inputs=scope.evaluation(chosen),
                input_dims=parse_input_dims(input_dim),
                recorded=outputs.trace is not None,
            )
            on_chips.append(by_network(networks.names, platform, chosen, conditions, progress))
        results = chain.from_iterable(zip(*on_chips, strict=True))
        shown = None if outputs.writes_files else progress
        cases, refusals = _gathered(results, shown, left_out=scope.left_out)
    benchmark = Benchmark(results=cases, refused=refusals, orders=orders(cases))
    outputs.write(
        json=benchmark.to_json,
        csv=lambda: benchmark_csv(cases),
        trace=lambda: benchmark_trace(cases),
        html=lambda: _page(benchmark),
    )
    if outputs.writes_files:
        say(benchmark_tables(cases, left_out=scope.left_out))
    _show_rest(benchmark, by_measured=scope.rank == "measured")


def _page(benchmark: Benchmark) -> str:
    from hexsim.reports.pages.command_pages import bench_page

    return bench_page(benchmark, command_line())


def _gathered(
    networks: Iterable[list[Inference | Refusal]],
    progress: ProgressLine | None,
    *,
    left_out: bool,
) -> tuple[tuple[Inference, ...], tuple[Refusal, ...]]:
    """Return all results; each table, of a network on a chip, is printed as soon as it is known."""
    from hexsim.reports.benchmark import network_table
    from hexsim.results.benchmark import Inference
    from hexsim.studies.benchmark import answered

    every: list[Inference | Refusal] = []
    is_first = True
    for results in networks:
        every += results
        known = [result for result in results if isinstance(result, Inference)]
        if known and progress is not None:  # a closed pipe may end the command here
            table = network_table(known, left_out=left_out)
            progress.print_above(("" if is_first else "\n") + table)
            is_first = False
    return answered(every)


def _show_rest(benchmark: Benchmark, *, by_measured: bool) -> None:
    """Print the parts of the report about all networks, after their tables, and what is lost."""
    from hexsim.reports.benchmark import footnotes
    from hexsim.reports.inference import background_tables
    from hexsim.reports.summary import orders_text, recommendations

    print_findings(*((case.network, case.findings) for case in benchmark.results))
    if advice := recommendations(benchmark.results, by_measured=by_measured):
        say("\n" + advice)
    if orders := orders_text(benchmark.orders):
        say("\n" + orders)
    if clients := background_tables(benchmark.results):
        say("\n" + clients)
    say("\n" + footnotes(benchmark))
