"""`hexsim decide` chooses chip, runtime, quantiser mode and cut within limits, or a file."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._files import CHIPS
from hexsim.cli._inputs import Appearance, Inputs, LabelledInputs
from hexsim.cli._options import (
    AnchorOption,
    FloatModelOption,
    IdealCpuOption,
    IdleOption,
    InputDimOption,
    ModelArgument,
    NoFallbackOption,
    NoHtaOption,
    NoPowerCollapseOption,
    OverrideParamsOption,
    ProfileOption,
    StackOption,
    VtcmOption,
    parse_input_dims,
    parse_runtimes,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._say import command_line, remark, say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import SeveralChips
from hexsim.errors import HexsimError, unknown
from hexsim.runtimes import RUNTIMES

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputRoles
    from hexsim.results.decision import Decision, Limits, Preference
    from hexsim.studies.decision.modes import CommandOptions

EXAMPLES = {
    "decide": (
        "hexsim decide model.onnx --chips sd855,sd865 --max-ms 10",
        "hexsim decide quantised.dlc --files --float model.onnx --chips sd855",
    )
}


@dataclass(frozen=True)
class Chips:
    """The chips to choose from, their software, and the settings of calls."""

    chips: Annotated[
        str,
        typer.Option("--chips", help="Names or TOML files of chips, comma separated."),
        CHIPS,
    ] = "sd835,sd855,sd865"
    stack: StackOption = None
    ideal_cpu: IdealCpuOption = False
    perf_profile: ProfileOption = None
    idle_ms: IdleOption = 0.0
    no_power_collapse: NoPowerCollapseOption = False
    anchor: AnchorOption = None
    vtcm: VtcmOption = None

    def platforms(self) -> tuple[Platform, ...]:
        """Read the descriptions; raise HexsimError if two chips have the same name."""
        hardware = SeveralChips(self.chips, self.stack, self.ideal_cpu, self.anchor, self.vtcm)
        platforms = hardware.platforms("--chips")
        if self.no_power_collapse:
            platforms = [platform.without_power_collapse() for platform in platforms]
        for platform in platforms:
            platform.stack.profile(self.perf_profile)
        return tuple(platforms)


@dataclass(frozen=True)
class DecideChoices:
    """The alternatives, the limits, and the preference."""

    runtime: Annotated[
        str | None, typer.Option("--runtime", help="Comma separated; default: all of each chip.")
    ] = None
    modes: Annotated[
        str | None,
        typer.Option(
            "--modes",
            help="Quantiser modes, comma separated: float, default, enhanced, bias32, axis, "
            "axis+bias32, cle, cle+bc, act16, axis+act16, mixed; default: all.",
        ),
    ] = None
    max_ms: Annotated[
        float | None, typer.Option("--max-ms", min=0.0, help="Most time of an inference, in ms.")
    ] = None
    max_mb: Annotated[
        float | None, typer.Option("--max-mb", min=0.0, help="Most memory at its peak, in MiB.")
    ] = None
    max_mj: Annotated[
        float | None,
        typer.Option("--max-mj", min=0.0, help="Most energy of an inference, in mJ: an estimate."),
    ] = None
    max_loss: Annotated[
        float | None,
        typer.Option(
            "--max-loss",
            help="Most accuracy lost, in percentage points: of top-1 with --labels, else of "
            "answers that are the same as in float.",
        ),
    ] = None
    min_db: Annotated[
        float | None, typer.Option("--min-db", help="Least SQNR of the outputs, in dB.")
    ] = None
    prefer: Annotated[
        str,
        typer.Option("--prefer", help="Rank by latency, accuracy, memory or energy first."),
    ] = "latency"

    def limits(self) -> Limits:
        """Return the limits."""
        from hexsim.results.decision import Limits

        return Limits(**{name: getattr(self, name) for name in Limits.__struct_fields__})

    def preference(self) -> Preference:
        """Parse the preference."""
        from hexsim.studies.decision import PREFERENCES

        for preference in PREFERENCES:
            if preference == self.prefer.strip().lower():
                return preference
        raise unknown("preference", self.prefer, PREFERENCES)


@dataclass(frozen=True)
class DecideWork:
    """Options to read the model, and the extent of the study and its report."""

    input_dim: InputDimOption = None
    no_cpu_fallback: NoFallbackOption = False
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=0,
            max=100_000,
            help="Draws of all constants in doubt, for the intervals; 0: none; default: as "
            "many as bench takes.",
        ),
    ] = None
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Also rank the layers of the best quantised choice, quantising one at a time.",
        ),
    ] = False
    every: Annotated[
        bool, typer.Option("--all", help="Show all choices, also those that are ruled out.")
    ] = False

    def count_draws(self) -> int:
        """Return the draws that are asked for, else those of bench."""
        from hexsim.studies.uncertainty import FEW

        return FEW if self.draws is None else self.draws


@dataclass(frozen=True)
class Files:
    """The files of the network, compared as they are loaded."""

    HEADING = "Files of the network"

    files: Annotated[
        bool,
        typer.Option(
            "--files",
            help="Compare a float and a quantised file on every runtime instead of modes: sizes, "
            "loading, times and answers.",
        ),
    ] = False
    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False


@paged
@grouped
def decide(
    *,
    model: ModelArgument,
    chips: Chips,
    choice: DecideChoices,
    inputs: LabelledInputs,
    files: Files,
    work: DecideWork,
    outputs: JsonCsvHtml,
) -> None:
    """Choose chip, runtime, quantiser mode and cut: ranked, with reasons, within your limits.

    Results are kept: a run that was interrupted continues where it was. The exit code is 1 if no
    choice is left, which a build may rely on.
    """
    if files.files:
        unused = _set(choice, "runtime"), _set(work, "input_dim", "no_cpu_fallback")
        if any(unused):
            options = ", ".join(option for words in unused for option in words)
            raise HexsimError(f"{options}: of modes, which --files leaves out; give one or other")
        decision = _compared(model, chips, choice, inputs, files, work)
    elif given := _set(files):
        raise HexsimError(f"{', '.join(given)}: of files that --files compares; give that too")
    else:
        decision = _decided(model, chips, choice, inputs, work)

    def html() -> str:
        from hexsim.reports.pages.decision_page import decision_page

        return decision_page(decision, command_line())

    outputs.write(json=decision.to_json, csv=decision.to_csv, html=html)
    _show(decision, every=work.every)
    if not decision.rows:
        raise typer.Exit(1)


def _decided(
    model: str, chips: Chips, choice: DecideChoices, inputs: LabelledInputs, work: DecideWork
) -> Decision:
    """Answer the question that the options ask."""
    from hexsim.cli._progress import status
    from hexsim.dlc.loading import load_container
    from hexsim.quantization.model import require_float
    from hexsim.studies.decision import Question, parse_modes
    from hexsim.studies.decision import decide as run_decide

    platforms, limits, prefer = chips.platforms(), choice.limits(), choice.preference()
    runtimes, (modes, mixed) = parse_runtimes(choice.runtime), parse_modes(choice.modes)
    dims = parse_input_dims(work.input_dim)
    read = load_container(model, input_dims=dims)
    require_float(read.model)
    on = (runtimes or RUNTIMES) if any(mode.quantizes for mode in modes) else ()
    roles = inputs.roles(read.model, on)
    question = Question(
        source=model,
        read=read,
        inputs=roles.judging,
        platforms=platforms,
        calibration=roles.calibrating,
        labels=roles.labels,
        runtimes=runtimes,
        modes=modes,
        mixed=mixed,
        limits=limits,
        prefer=prefer,
        perf_profile=chips.perf_profile,
        idle_ms=chips.idle_ms,
        cpu_fallback=not work.no_cpu_fallback,
        draws=work.count_draws(),
        sensitivity=work.sensitivity,
        input_dims=dims,
        options=_command_options(model, chips, inputs, work, roles),
    )
    with status() as progress, _keeping_results(read.model.network):
        return run_decide(question, progress)


def _compared(
    model: str,
    chips: Chips,
    choice: DecideChoices,
    inputs: LabelledInputs,
    files: Files,
    work: DecideWork,
) -> Decision:
    """Compare the files on the runtimes, and say on stderr what the quantised one loses."""
    platforms, runtimes = chips.platforms(), parse_runtimes(choice.runtime)

    from hexsim.cli._overrides import print_findings
    from hexsim.cli._progress import status
    from hexsim.studies.decision.files import FileConditions, compare_files, read_files

    compared = read_files(
        model,
        files.float_model,
        input_dims=parse_input_dims(work.input_dim),
        override_params=files.override_params,
    )
    on = runtimes or [name for platform in platforms for name in platform.runtimes]
    roles = inputs.roles(compared.judged, on, compared.compared.overrides)
    conditions = FileConditions(
        runtimes=runtimes,
        perf_profile=chips.perf_profile,
        idle_ms=chips.idle_ms,
        cpu_fallback=not work.no_cpu_fallback,
        hta=not files.no_hta,
        remark=inputs.calibrated_too(compared.compared.quantizer_command),
    )
    with status() as progress:
        decision = compare_files(compared, platforms, roles, conditions, progress)
    print_findings((decision.network, decision.findings))
    return decision


def _keeping_results(network: Network) -> AbstractContextManager[None]:
    """Return the block in which an interruption prints that results are kept."""
    from hexsim.cli._stopping import keeping
    from hexsim.studies.decision.parts import keeps_parts

    return keeping("what was computed is kept") if keeps_parts(network) else nullcontext()


def _command_options(
    model: str, chips: Chips, inputs: LabelledInputs, work: DecideWork, roles: InputRoles
) -> CommandOptions:
    """Return the options in the form of other commands."""
    from hexsim.studies.decision.modes import CommandOptions

    dims = _words(work, "input_dim")
    others, calibration = inputs.calibration_list, _words(inputs, *_names(Inputs))
    compared = (*calibration, *_words(inputs, "labels"))
    if others is not None:
        kind = "--images" if isinstance(others, Path) and others.is_dir() else "--input-list"
        how = _words(inputs, *_names(Appearance))
        calibration = (kind, str(others), *(how if kind == "--images" else ()))
    elif inputs.has_inputs and roles.calibrating not in (None, roles.judging):
        calibration, compared = (
            (*calibration, "--part", "calibrate"),
            (*compared, "--part", "judge"),
        )
    elif not inputs.has_inputs:
        calibration = ("--seeded-inputs",)
    return CommandOptions(
        model,
        dims,
        calibration,
        compared,
        _words(chips, "stack", "ideal_cpu"),
        _words(chips, "anchor", "vtcm", "perf_profile", "idle_ms", "no_power_collapse"),
    )


def _show(decision: Decision, *, every: bool) -> None:
    """Print the decision, and on stderr why its parts are not kept."""
    from hexsim.reports.decision import decision_text

    if decision.unstored:
        remark(f"[WARNING] results are not kept for the next run: {decision.unstored}")
    say(decision_text(decision, every=every))


def _names(group: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(group))


def _words(group: Any, *names: str) -> tuple[str, ...]:
    """Return the words that set the fields called `names` of a group of options."""
    from hexsim.studies.decision.modes import words

    return words(
        {
            field.name: getattr(group, field.name)
            for field in fields(group)
            if field.name in names and getattr(group, field.name) != field.default
        }
    )


def _set(group: Any, *but: str) -> list[str]:
    """Return the options of a group that are set, but for the fields called `but`."""
    return [
        f"--{_SPELT.get(field.name, field.name).replace('_', '-')}"
        for field in fields(group)
        if field.name not in but and getattr(group, field.name) != field.default
    ]


_SPELT = {"every": "all", "float_model": "float"}
"""Fields that have other names than their options."""
