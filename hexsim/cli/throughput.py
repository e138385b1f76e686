"""`hexsim throughput` simulates several instances of one or more networks at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._options import AUTO, InputDimOption, parse_choice, parse_input_dims
from hexsim.cli._output import JsonTraceHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import CallOptions, Hardware
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.q6_scheduler import PriorityHint


@dataclass(frozen=True)
class CallingThreads:
    """The threads that call each network: their runtime, number and priority."""

    runtime: Annotated[
        str,
        typer.Option("--runtime", help=f"One for all networks, or one for each: dsp,cpu; {AUTO}."),
    ] = "auto"
    instances: Annotated[
        str, typer.Option("--instances", help="Threads of every network, or of each: 2,1.")
    ] = "1"
    priority: Annotated[
        str, typer.Option("--priority", help="low, normal or high, or one for each: high,low.")
    ] = "normal"

    parallel_graphs: Annotated[
        int,
        typer.Option(
            "--parallel-graphs",
            min=1,
            help="Graphs that a tensor processor runs at a time, each with its share of VTCM.",
        ),
    ] = 1


@dataclass(frozen=True)
class Length:
    """The end of the simulation: a number of calls or a duration."""

    inferences: Annotated[
        int | None, typer.Option("--inferences", help="Calls of every thread; default: 20.")
    ] = None
    duration_ms: Annotated[
        float | None,
        typer.Option(
            "--duration-ms", help="Begin no call after this time, instead of counting calls."
        ),
    ] = None


@paged
@grouped
def throughput(
    *,
    model: Annotated[
        list[str], typer.Argument(help=".dlc or ONNX files or built-in networks."), MODEL
    ],
    hardware: Hardware,
    threads: CallingThreads,
    length: Length,
    circumstances: CallOptions,
    input_dim: InputDimOption = None,
    outputs: JsonTraceHtml,
) -> None:
    """Run instances of networks at once: throughput, latencies, utilisation and what limits."""
    from hexsim.api import throughput as api
    from hexsim.reports.trace import trace_json

    how: api.ClosedCalls = {
        **hardware.settings(),
        **circumstances.settings(),
        "parallel_graphs": threads.parallel_graphs,
        "input_dims": parse_input_dims(input_dim),
    }
    with TERMINAL.status():
        answer = api.throughput(
            *model,
            chip=hardware.chip,
            runtime=[parse_choice(name) for name in _separated(threads.runtime)],
            instances=[_count(text) for text in _separated(threads.instances)],
            priority=[cast("PriorityHint", name) for name in _separated(threads.priority)],
            inferences=length.inferences,
            duration_ms=length.duration_ms,
            **how,
        )

    def trace() -> str:
        assert answer.timing is not None
        return trace_json([(f"throughput on {answer.chip}", answer.timing)])

    outputs.write(answer, trace=trace)
    say(str(answer))


def _separated(text: str) -> list[str]:
    return [value.strip() for value in text.split(",")]


def _count(text: str) -> int:
    if not text.isdecimal():
        raise HexsimError(f"--instances '{text}' is not a number of threads")
    return int(text)
