"""`hexsim tradeoff` compares a float and a quantised file on the runtimes."""

from __future__ import annotations

from hexsim.cli._compared import Compared
from hexsim.cli._groups import grouped
from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import ModelArgument, NoFallbackOption, ProfileOption
from hexsim.cli._output import JsonCsv
from hexsim.cli._page import paged
from hexsim.cli._say import say
from hexsim.cli._simulated import Hardware, Power


@paged
@grouped
def tradeoff(
    *,
    model: ModelArgument,
    hardware: Hardware,
    inputs: LabelledInputs,
    compared: Compared,
    perf_profile: ProfileOption = None,
    power: Power,
    no_cpu_fallback: NoFallbackOption = False,
    outputs: JsonCsv,
) -> None:
    """Compare file size, initialisation, inference and accuracy of every choice."""
    platform = power.of(hardware.platform())

    from hexsim.cli._progress import status
    from hexsim.reports.tradeoff import tradeoff_csv, tradeoff_facts, tradeoff_table
    from hexsim.studies.tradeoff import TradeoffConditions
    from hexsim.studies.tradeoff import tradeoff as run_tradeoff

    platform.stack.profile(perf_profile)
    floats, given = compared.both(model)
    network = floats or given.model.network
    source = inputs.source(network)
    classes = inputs.classes(source, network)
    codes, encodings = compared.quantized(given, platform, source, "aip", inputs)
    conditions = TradeoffConditions(
        perf_profile, power.idle_ms, not no_cpu_fallback, classes, given.overrides
    )
    with status() as progress:
        result = run_tradeoff(floats, codes, platform, source, conditions, progress)
    notes = (source.description, encodings, given.reference)
    where, labelled = (platform.chip.name, platform.stack.name), classes is not None
    outputs.write(
        json=lambda: tradeoff_facts.json(network.name, where, notes, result.choices, labelled),
        csv=lambda: tradeoff_csv(result.choices, labelled),
    )
    say(f"{network.name} on {platform.chip.name}, {platform.software}, {source.items} inputs")
    say("".join(f"  {note}\n" for note in notes))
    say(tradeoff_table(result.choices, labelled=labelled))
