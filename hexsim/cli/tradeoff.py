"""`hexsim tradeoff` compares a float and a quantised file on the runtimes."""

from hexsim.cli._compared import Compared
from hexsim.cli._groups import grouped
from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import ModelArgument, NoFallbackOption, ProfileOption
from hexsim.cli._output import JsonCsv
from hexsim.cli._overrides import print_losses
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

    from hexsim.cli._progress import bar, status
    from hexsim.deployment import Deployment
    from hexsim.quantization.model import Model
    from hexsim.reports.text import number
    from hexsim.reports.tradeoff import choice_facts, tradeoff_facts, tradeoff_table
    from hexsim.studies.tradeoff import TradeoffConditions
    from hexsim.studies.tradeoff import tradeoff as run_tradeoff

    platform.stack.profile(perf_profile)
    floats, given = compared.both(model)
    network = floats or given.model.network
    judged = given.model if floats is None else Model(floats)
    roles = inputs.roles(judged, platform.runtimes, given.overrides)
    codes, encodings = given.coded(platform, roles, "aip", hta=not compared.no_hta, bar=bar)
    conditions = TradeoffConditions(
        perf_profile, power.idle_ms, not no_cpu_fallback, given.overrides
    )
    with status() as progress:
        result = run_tradeoff(floats, codes, platform, roles, conditions, progress)
    source = roles.judging
    encodings += inputs.calibrated_too(given.quantizer_command)
    notes = (source.description, encodings, given.reference)
    print_losses(Deployment(codes, platform, "aip"), perf_profile)
    where, labelled = (platform.chip.name, platform.stack.name), roles.labels is not None
    outputs.write(
        json=lambda: tradeoff_facts.json(network.name, where, notes, result.choices),
        csv=lambda: choice_facts.csv(result.choices),
    )
    inputs_count = number(source.items, "input")
    say(f"{network.name} on {platform.chip.name}, {platform.software}, {inputs_count}")
    say("".join(f"  {note}\n" for note in notes))
    reference = codes.reference if floats is None else "float network"
    say(tradeoff_table(result.choices, labelled=labelled, reference=reference))
