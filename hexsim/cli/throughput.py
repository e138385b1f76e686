"""`hexsim throughput` simulates several instances of one or more networks at once."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._options import AUTO, parse_choice, runtime_names
from hexsim.cli._output import JsonTraceHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import Keywords, Reads, grouped, paged
from hexsim.cli._simulated import Calling, Hardware, Shapes
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.runtimes import RuntimeChoice


def _separated(text: str) -> list[str]:
    return [value.strip() for value in text.split(",")]


def _runtimes(text: str) -> list[RuntimeChoice]:
    return [*map(parse_choice, _separated(text))]


def _counts(text: str) -> list[int]:
    counts = _separated(text)
    if unread := [count for count in counts if not count.isdecimal()]:
        raise HexsimError(f"--instances '{unread[0]}' is not a number of threads")
    return [*map(int, counts)]


@dataclass(frozen=True)
class CallingThreads(Keywords):
    """The threads that call each network: their runtime, number and priority."""

    runtime: Annotated[
        str,
        Reads(str, _runtimes, runtime_names),
        f"One for all networks, or one for each: dsp,cpu; {AUTO}.",
    ] = "auto"
    instances: Annotated[str, Reads(str, _counts), "Threads of every network, or of each: 2,1."] = (
        "1"
    )
    priority: Annotated[
        str, Reads(str, _separated), "low, normal or high, or one for each: high,low."
    ] = "normal"
    parallel_graphs: Annotated[
        int,
        typer.Option(
            min=1,
            help="Graphs that a tensor processor runs at a time, each with its share of VTCM.",
        ),
    ] = 1

    inferences: Annotated[int | None, "Calls of every thread; default: 20."] = None
    duration_ms: Annotated[
        float | None, "Begin no call after this time, instead of counting calls."
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
    circumstances: Calling,
    shapes: Shapes,
    outputs: JsonTraceHtml,
) -> None:
    """Run instances of networks at once: throughput, latencies, utilisation and what limits."""
    from hexsim.api import throughput as api
    from hexsim.reports.trace import trace_json

    with TERMINAL.status():
        answer = api.throughput(
            *model,
            **hardware.keywords(),
            **threads.keywords(),
            **circumstances.keywords(),
            **shapes.keywords(),
        )

    def trace() -> str:
        assert answer.timing is not None
        return trace_json([(f"throughput on {answer.chip}", answer.timing)])

    outputs.write(answer, trace=trace)
    say(str(answer))
