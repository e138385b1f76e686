"""`hexsim profile` shows the time of one inference, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._groups import grouped
from hexsim.cli._options import InputDimOption, ModelArgument, parse_input_dims
from hexsim.cli._output import JsonCsvTraceHtml
from hexsim.cli._overrides import print_override_use
from hexsim.cli._page import paged
from hexsim.cli._say import command_line, say
from hexsim.cli._simulated import CallOptions, Power, RuntimeOnChip

if TYPE_CHECKING:
    from hexsim.studies.benchmark import Case

EXAMPLES = {
    "profile": (
        "hexsim profile model.dlc --chip sd855 --runtime aip",
        "hexsim profile model.onnx --quantize --html page.html",
    ),
}


@paged
@grouped
def profile(
    *,
    model: ModelArgument,
    runs_on: RuntimeOnChip,
    power: Power,
    circumstances: CallOptions,
    input_dim: InputDimOption = None,
    uncertainty: Annotated[
        bool,
        typer.Option(
            "--uncertainty",
            help="Change assumed and calibrated constants one at a time, and list their effects.",
        ),
    ] = False,
    outputs: JsonCsvTraceHtml,
) -> None:
    """Profile one inference: cycles, time, MACs, bytes by memory level and bound of every layer."""
    outputs.check()
    platform = power.of(runs_on.platform())

    from hexsim.cli._progress import status
    from hexsim.reports.benchmark.data import benchmark_facts
    from hexsim.reports.benchmark.trace import benchmark_trace
    from hexsim.reports.inference.profile import profile_csv
    from hexsim.studies.benchmark import run_case

    conditions = circumstances.conditions(
        platform,
        power,
        sweep="everything" if uncertainty else None,
        accuracy=False,
        input_dims=parse_input_dims(input_dim),
        recorded=outputs.trace is not None or outputs.html is not None,
    )
    with status() as progress:
        case = run_case(model, platform, runs_on.asked(), conditions, progress)
    print_override_use(case.network, case.overrides)

    def html() -> str:
        from hexsim.reports.pages.command_pages import profile_page

        return profile_page(case, platform, command_line())

    outputs.write(
        json=lambda: benchmark_facts.json([case]),
        csv=lambda: profile_csv(case.timing, case.memory, case.energy),
        trace=lambda: benchmark_trace([case]),
        html=html,
    )
    _show(case)


def _show(case: Case) -> None:
    from hexsim.reports.benchmark.background import background_tables, slowdown_table
    from hexsim.reports.benchmark.summary import processor_lines, summary
    from hexsim.reports.benchmark.uncertainty import uncertainty_table
    from hexsim.reports.inference.profile import profile_table

    say(
        f"{case.network} on {case.chip} {case.runtime}, {case.software}, {case.perf_profile}, "
        f"{case.buffer} buffers\n"
    )
    say("\n".join((summary(case), *processor_lines(case), "")))
    say(profile_table(case.timing, case.memory, case.energy))
    if case.graph_note is not None:
        say(f"\n{case.graph_note}")
    if case.interference is not None:
        say(f"\n{background_tables([case])}\n\n{slowdown_table(case.interference)}")
    if case.uncertainty is not None:
        say("\n" + uncertainty_table(case.uncertainty))
