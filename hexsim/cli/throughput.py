"""`hexsim throughput` simulates several instances of one or more networks at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._options import InputDimOption, parse_input_dims, parse_runtime
from hexsim.cli._output import JsonTraceHtml
from hexsim.cli._overrides import print_findings, print_override_use
from hexsim.cli._say import command_line, say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import CallOptions, Hardware
from hexsim.errors import HexsimError, unknown

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.q6_scheduler import PriorityHint
    from hexsim.runtimes import Runtime
    from hexsim.studies.throughput import ClosedLoop


@dataclass(frozen=True)
class CallingThreads:
    """The threads that call each network: their runtime, number and priority."""

    runtime: Annotated[
        str, typer.Option("--runtime", help="One for all networks, or one for each: dsp,cpu.")
    ] = "dsp"
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

    def of(self, models: int) -> list[tuple[Runtime, int, PriorityHint]]:
        """Parse runtime, threads and priority of each network."""
        runtimes = [parse_runtime(name) for name in per_model("--runtime", self.runtime, models)]
        counts = [_count(text) for text in per_model("--instances", self.instances, models)]
        hints = [_hint(name) for name in per_model("--priority", self.priority, models)]
        return list(zip(runtimes, counts, hints, strict=True))


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

    def require_one(self) -> None:
        """Raise HexsimError if both are given."""
        if self.inferences is not None and self.duration_ms is not None:
            raise HexsimError("give --inferences or --duration-ms, not both")

    def loop(self, circumstances: CallOptions, platform: Platform) -> ClosedLoop:
        """Return the loop of calls of every thread."""
        from hexsim.studies.conditions import buffer_of, clients_of
        from hexsim.studies.throughput import ClosedLoop

        settings = circumstances.settings()
        return ClosedLoop(
            inferences=ClosedLoop.inferences if self.inferences is None else self.inferences,
            duration_ms=self.duration_ms,
            perf_profile=circumstances.perf_profile,
            buffer=buffer_of(settings, platform),
            background=clients_of(settings),
        )


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
    length.require_one()
    wanted = threads.of(len(model))
    platform = hardware.platform(threads.parallel_graphs)

    from hexsim.cli._progress import status
    from hexsim.reports.studies import throughput_text
    from hexsim.reports.trace import trace_json
    from hexsim.studies.throughput import Wanted, loaded, throughput

    loop, preparation = length.loop(circumstances, platform), circumstances.preparation()
    networks = [Wanted(source, *each) for source, each in zip(model, wanted, strict=True)]
    dims, profile = parse_input_dims(input_dim), circumstances.perf_profile
    ready = []
    with status() as progress:
        for network in loaded(networks, platform, preparation, profile, dims, progress):
            if network.hta_choice is not None:
                progress.print_above(f"{network.name} on aip: {network.hta_choice}")
            ready.append(network)
        callers = [network.caller for network in ready]
        progress(f"{sum(caller.instances for caller in callers)} instances on {platform.chip.name}")
        result = throughput(platform, callers, loop)
    for name, use in {network.name: network.overrides for network in ready}.items():
        print_override_use(name, use)
    print_findings(*((network.name, network.findings) for network in ready))

    def html() -> str:
        from hexsim.reports.pages.command_pages import throughput_page

        return throughput_page(result, command_line())

    def trace() -> str:
        assert result.timing is not None
        return trace_json([(f"throughput on {result.chip}", result.timing)])

    outputs.write(json=result.to_json, trace=trace, html=html)
    say(throughput_text(result))


def _count(text: str) -> int:
    if not text.isdecimal():
        raise HexsimError(f"--instances '{text}' is not a number of threads")
    return int(text)


def _hint(name: str) -> PriorityHint:
    from hexsim.q6_scheduler import URGENCY

    if name not in URGENCY:
        raise unknown("priority", name, list(URGENCY))
    return name


def per_model(option: str, text: str, models: int) -> list[str]:
    """Read comma separated values of `option`: one for all models or one for each, in order."""
    values = [value.strip() for value in text.split(",")]
    if len(values) == 1:
        values *= models
    if len(values) != models or not all(values):
        raise HexsimError(
            f"{option} '{text}' is neither one value for all networks nor one for each of {models}"
        )
    return values
