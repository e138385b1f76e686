"""A decision as text: the recommendation with its reasons, the ranking, and what is ruled out.

Where files are compared, it is a table of these instead.
"""

from collections.abc import Iterable, Iterator, Sequence

from hexsim.errors import either, spelled
from hexsim.records import dataclass
from hexsim.reports.inference import REPORTED_FACTOR
from hexsim.reports.text import error_lines, number, short_name, table
from hexsim.reports.validation import sensitivity_table
from hexsim.results.accuracy import LEAST_DB, each_output
from hexsim.results.decision import Choice, Decision, FileChoice, RuledOut, TriedChange, heads
from hexsim.studies.decision.modes import two_digits
from hexsim.texts.figures import decibels, figure, given, percent, span

SHOWN = 10
"""The number of places shown, each with its best mode; candidates on the front are shown too."""

FINDINGS = 5
"""The number of losses shown."""

CHANGES_TITLE = "Changes of the network that would help"
CHANGES_HEADER = (
    *("change", "layers", "first of them", "ms before", "ms after", "gain", "ms saved (90 %)"),
    *("answers", "note"),
)
NO_CHANGE = "None of the changes of the network that were tried saves more than 1 % for sure."

SURE = 0.9
"""The order of two candidates counts as sure from this share of draws on."""


def decision_text(decision: Decision, *, every: bool = False) -> str:
    """Return all of it as text; with `every` also the choices that are ruled out or beaten."""
    if decision.files:
        platforms = dict.fromkeys(f"{choice.chip}, {choice.stack}" for choice in decision.files)
        where = f" on {', '.join(platforms)}" if len(platforms) == 1 else ""
        head = f"{decision.network}{where}, {number(decision.inputs, 'input')}"
        parts = [files_tables(decision)]
    else:
        head = f"{decision.network}, {number(decision.inputs, 'input')}"
        parts = [recommendation(decision)]
        if decision.choices:
            parts += [decision_table(decision, every=every), findings(decision, every=every)]
            parts += [sensitivity_text(decision), changes(decision)]
        parts.append(ruled_out(decision, every=every))
        lines = "".join(f"\n  {line}" for line in decision.commands)
        parts.append(f"To get the same figures again{lines}" if lines else "")
    said = (*error_lines(decision.expected_errors), *decision.notes)
    notes = "".join(f"  {note}\n" for note in said)
    return "\n\n".join([f"{head}\n{notes}".rstrip("\n"), *filter(None, parts)])


def decision_table(decision: Decision, *, every: bool = False) -> str:
    """Return the ranking: the best of each place and the front, or with `every` all candidates."""
    right = ("top-1",) if decision.labelled else ()
    same = ("same as float",) if decision.classifier else ()
    header = (
        *("rank", "mode", "chip", "runtime", "cut", "ms", "90 % interval"),
        *(*right, *same, "SQNR dB", "peak MiB", "mJ", "front"),
    )
    best = heads(decision.choices)[:SHOWN]
    rows = [
        _row(candidate, decision)
        for candidate in decision.choices
        if every or candidate in best or candidate.in_front
    ]
    at = header.index("cut")
    if not any(row[at] for row in rows):
        header, rows = _without(at, header), [_without(at, row) for row in rows]
    left = frozenset(map(header.index, {"mode", "chip", "runtime", "cut"}.intersection(header)))
    first_to_go = [header.index(name) for name in ("front", "90 % interval", *same[: len(right)])]
    text = table(header, rows, left=left, first_to_go=first_to_go)
    hidden = len(decision.choices) - len(rows)
    return text + (f"\n(and {hidden} more; {spelled('all', True)} shows them)" if hidden else "")


def _without(column: int, row: tuple[str, ...]) -> tuple[str, ...]:
    return row[:column] + row[column + 1 :]


def recommendation(decision: Decision) -> str:
    """Return sentences on what to take, the rule of the order, and how sure the order is."""
    return "\n".join(_sentences(decision))


def recommended(best: Choice) -> str:
    """Return the recommendation without its reasons."""
    return f"Take {best.mode} on {_placed(best)}"


def energy_text(choice: Choice) -> str:
    """Return its energy with its bounds."""
    bounds = span(choice.energy_low_mj, choice.energy_high_mj)
    return f"{figure(choice.energy_mj)} mJ ({bounds})"


def ruled_out(decision: Decision, *, every: bool = False) -> str:
    """Return what is ruled out and why; with `every` a reason for each candidate beyond a limit."""
    groups = out_groups(decision.ruled_out)
    beyond = [group for group in groups if group.limit]
    lines = [
        f"{', '.join(group.modes)} on {', '.join(group.places)}: {group.reason}"
        for group in groups
        if not group.limit
    ]
    if every:
        candidates = [candidate for group in beyond for candidate in group.candidates]
        lines += [
            f"{candidate.mode} on {candidate.chip} {candidate.where}: {candidate.reason}"
            for candidate in candidates
        ]
    elif beyond:
        counts = ", ".join(f"{len(group.candidates)} beyond {group.limit}" for group in beyond)
        lines.append(f"{counts} ({spelled('all', True)} shows them)")
    return "Ruled out\n" + "\n".join(f"  {line}" for line in lines) if lines else ""


def findings(decision: Decision, *, every: bool = False) -> str:
    """Return what modes lose for certain, those of the best first; with `every` all of it."""
    losses = losses_of(decision)
    lines = [f"  {', '.join(modes)}: {sentence}" for sentence, modes in losses.items()]
    shown = lines if every else lines[:FINDINGS]
    if len(lines) > len(shown):
        more = f"(and {len(lines) - len(shown)} more; {spelled('all', True)} shows them)"
        shown.append(f"  {more}")
    return "\n".join(["Lost for certain", *shown]) if shown else ""


def losses_of(decision: Decision) -> dict[str, dict[str, None]]:
    """Return the sentences on what modes lose, each with its modes, in the order of the ranking."""
    losses: dict[str, dict[str, None]] = {}
    for candidate in decision.choices:
        for finding in candidate.findings:
            losses.setdefault(finding.sentence, {})[candidate.mode] = None
    return losses


def changes(decision: Decision) -> str:
    """Return the changes of the network that would help, or the sentence that none does."""
    if not decision.changes:
        return NO_CHANGE if decision.choices else ""
    rows = changes_rows(decision)
    return f"{CHANGES_TITLE}\n" + table(CHANGES_HEADER, rows, left=frozenset({0, 2, 7, 8}))


def changes_rows(decision: Decision) -> list[tuple[str, ...]]:
    """Return a row per change, the best first."""
    return [
        (
            *(change.name, str(len(change.layers)), short_name(change.layers[0])),
            *(figure(change.before_us / 1e3), figure(change.after_us / 1e3)),
            *(percent(change.gain), _saved(change)),
            *("stay" if change.same_answers else "change: retrain", change.remark),
        )
        for change in decision.changes
    ]


def _saved(change: TriedChange) -> str:
    """Return the interval of the time that a change saves, if it has one."""
    if change.saved_low_us is None or change.saved_high_us is None:
        return ""
    return span(change.saved_low_us / 1e3, change.saved_high_us / 1e3)


def _row(choice: Choice, decision: Decision) -> tuple[str, ...]:
    right = (percent((choice.runtime_top1 or 0) / choice.inputs),) if decision.labelled else ()
    same = (f"{choice.same_top1}/{choice.inputs}",) if decision.classifier else ()
    return (
        *(f"{choice.rank}", choice.mode, choice.chip, choice.runtime),
        "compiler's" if choice.cut == "automatic" else choice.cut,
        *(figure(choice.ms), interval(choice), *right, *same, decibels(choice.sqnr_db)),
        *(figure(choice.peak_mib), figure(choice.energy_mj), "*" if choice.in_front else ""),
    )


def interval(choice: Choice) -> str:
    """Return the interval of its time in ms; empty without draws."""
    if choice.low_us is None or choice.high_us is None:
        return ""
    return span(choice.low_us / 1e3, choice.high_us / 1e3)


def _sentences(decision: Decision) -> Iterator[str]:
    if not decision.choices:
        yield "Nothing is within the limits."
        if nearest := _nearest(decision.ruled_out):
            yield nearest
        return
    best, *others = decision.choices
    yield f"{recommended(best)}: {_worth(best, decision)}."
    if outputs := each_output(best.outputs):
        yield f"{outputs[0].upper()}{outputs[1:]}."
    count = len(decision.choices)
    within = f"{number(count, 'choice')} {'is' if count == 1 else 'are'} within the limits"
    yield f"Ranked by {decision.rule}; {within}."
    if others and others[0].place == best.place:
        other = others[0]
        yield f"Next there is {other.mode}, {_reason(best, other, decision)}."
    if decision.rival is not None:
        yield _next(decision)
    yield from _noise(decision)
    if (item := _item(decision)) is not None:
        yield item


def _placed(candidate: Choice) -> str:
    sections = {
        "automatic": " with the HTA sections of the compiler",
        "fastest": f" with HTA sections {candidate.hta_partitions}",
        "none": " without HTA sections",
    }.get(candidate.cut, "")
    return f"{candidate.chip} {candidate.runtime}{sections}"


def _worth(candidate: Choice, decision: Decision) -> str:
    doubt = f" ({interval(candidate)})" if interval(candidate) else ""
    parts = [
        f"{figure(candidate.ms)} ms{doubt}",
        f"{figure(candidate.peak_bytes / 2**20)} MiB at its peak",
        energy_text(candidate),
    ]
    if candidate.loss_points is not None:
        kind = "top-1" if decision.labelled else "agreement with float"
        parts.append(f"{figure(candidate.loss_points)} points of {kind} lost")
    sqnr_db = candidate.sqnr_db
    parts.append("exactly as float" if sqnr_db is None else f"{figure(sqnr_db)} dB SQNR")
    return ", ".join(parts)


def _next(decision: Decision) -> str:
    """Return how the best choice elsewhere compares with the first."""
    assert decision.rival is not None, "there is one"
    best, other = decision.choices[0], decision.choices[decision.rival.rank - 1]
    share = decision.rival.first_quicker_share
    text = f"Next elsewhere is {other.mode} on {_placed(other)}, {_reason(best, other, decision)}"
    factor = other.energy_mj / (best.energy_mj or 1.0)
    if decision.prefer != "energy" and not 1 / REPORTED_FACTOR < factor < REPORTED_FACTOR:
        text += f", and takes {figure(factor)} times the energy"
    if share is not None and best.total_inference_us != other.total_inference_us:
        text += f"; the first is the quicker one in {share:.0%} of draws"
        text += ", so their order is open" if share < SURE else ""
        text += " and more likely the other way round" if share < 0.5 else ""
    return text + "."


def _reason(best: Choice, other: Choice, decision: Decision) -> str:
    """Return why the second is behind, by the first criterion of the rule in which they differ."""
    if decision.prefer == "memory":
        figures = (best.peak_bytes, other.peak_bytes)
        if two_digits(figures[0]) != two_digits(figures[1]):
            return f"which needs {figure(figures[1] / figures[0])} times the memory"
    if decision.prefer == "energy":
        energies = (best.energy_mj, other.energy_mj)
        if two_digits(energies[0]) != two_digits(energies[1]):
            return f"which spends {figure(energies[1] / energies[0])} times the energy"
    best_us, other_us = best.expected_us, other.expected_us
    would_be_quicker = other.ms < best.ms and best_us < other_us
    if decision.prefer == "latency" and interval(other) and would_be_quicker:
        return (
            f"which would take {figure(other.ms)} ms with the constants as stated, but is known "
            f"less well ({interval(other)})"
        )
    if decision.prefer == "latency" and two_digits(best_us) != two_digits(other_us):
        return _longer(best, other)
    best_loss, other_loss = best.loss_points or 0.0, other.loss_points or 0.0
    if best_loss < other_loss:
        return f"which loses {figure(other_loss - best_loss)} points more"
    if best.sqnr_db != other.sqnr_db:
        return f"which has {decibels(other.sqnr_db)} dB"
    if best_us != other_us:
        return _longer(best, other)
    return "which is no better and less plain"


def _longer(best: Choice, other: Choice) -> str:
    """Return by how much the time of the table is longer, and by how much that of the ranking."""
    shown = figure(other.ms / best.ms)
    ranked_by = figure(other.expected_us / best.expected_us)
    middles = "" if ranked_by == shown else f" ({ranked_by} by the middles of intervals)"
    return f"which takes {shown} times as long{middles}"


def _noise(decision: Decision) -> Iterator[str]:
    """Yield a sentence on choices whose outputs are mostly noise, if there are any."""
    noisy = [candidate for candidate in decision.choices if candidate.is_noise]
    if not noisy:
        return
    if len(noisy) == len(decision.choices):
        text = f"The outputs of no choice have {LEAST_DB:g} dB, which an answer needs to be of use"
    else:
        quickest = min(noisy, key=lambda candidate: candidate.ms)
        text = (
            f"{number(len(noisy), 'choice')} with outputs under {LEAST_DB:g} dB: ranked last, the "
            f"quickest {quickest.mode} on {_placed(quickest)} with {figure(quickest.ms)} ms"
        )
    doubt = f"; seeded inputs say little of that: give {either('images', 'input_list')}"
    yield f"{text}{doubt if decision.seeded else ''}."


def _item(decision: Decision) -> str | None:
    """Return the weight of one input in per cent, where classes are counted."""
    if not decision.classifier:
        return None
    points = given(100 / decision.inputs)
    return f"Counted on {number(decision.inputs, 'input')}: one is {points} points."


def _nearest(ruled_out: Sequence[RuledOut]) -> str | None:
    beyond = [candidate for candidate in ruled_out if candidate.limit]
    if not beyond:
        return None
    return f"{beyond[0].mode} on {beyond[0].chip} {beyond[0].where}: {beyond[0].reason}."


@dataclass(frozen=True)
class OutGroup:
    """All candidates ruled out for one reason; `nearest` and `furthest` are figures of a limit.

    The reason of a limit contains the figure of the candidate; all candidates beyond one limit are
    one group. A reason may name chip and runtime; they are taken out of it, and listed.
    """

    reason: str
    candidates: tuple[RuledOut, ...]
    nearest: str = ""
    furthest: str = ""

    @property
    def limit(self) -> str:
        """The option that sets the limit; empty if a runtime refuses the network."""
        return self.reason.split()[1] if self.candidates[0].limit else ""

    @property
    def modes(self) -> tuple[str, ...]:
        """Quantiser modes, each once."""
        return tuple(dict.fromkeys(candidate.mode for candidate in self.candidates))

    @property
    def places(self) -> tuple[str, ...]:
        """Chips and runtimes, each once."""
        return tuple(
            dict.fromkeys(f"{candidate.chip} {candidate.where}" for candidate in self.candidates)
        )


def out_groups(ruled_out: Iterable[RuledOut]) -> tuple[OutGroup, ...]:
    """Return the groups in the order of their first candidates."""
    by_reason: dict[str, list[RuledOut]] = {}
    for candidate in ruled_out:
        reason = candidate.rule if candidate.limit else _of_any_place(candidate)
        by_reason.setdefault(reason, []).append(candidate)
    return tuple(_group(reason, candidates) for reason, candidates in by_reason.items())


def _of_any_place(candidate: RuledOut) -> str:
    """Return the reason without the names of chip and runtime."""
    runtime = candidate.where.split()[0]
    return candidate.reason.replace(f"{runtime} of chip {candidate.chip} ", "the runtime ").replace(
        f" {runtime} of ", " the runtime of "
    )


def _group(reason: str, candidates: list[RuledOut]) -> OutGroup:
    """Return candidates with one reason; the nearest is the smallest over a limit."""
    under = reason.startswith("under")
    by_value = sorted(candidates, key=lambda each: each.value or 0.0, reverse=under)
    return OutGroup(reason, tuple(candidates), by_value[0].figure, by_value[-1].figure)


def sensitivity_text(decision: Decision) -> str:
    """Return what quantising one layer at a time costs; empty if it was not asked for."""
    if (ranked := decision.sensitivity) is None:
        return ""
    head = decision.choices[ranked.rank - 1]
    return (
        f"Sensitivity of layers in {head.mode} on {_placed(head)}: SQNR before a final softmax "
        f"over {number(ranked.inputs, 'input')}, {decibels(ranked.all_db)} dB with all layers in "
        f"integers\n{sensitivity_table(ranked)}"
    )


def files_tables(decision: Decision) -> str:
    """Return a table of the files for each chip, with its name if there are several."""
    chips = dict.fromkeys((choice.chip, choice.stack) for choice in decision.files)
    tables = [
        (f"{chip}, {stack}\n" if len(chips) > 1 else "")
        + files_table([choice for choice in decision.files if choice.chip == chip], decision)
        for chip, stack in chips
    ]
    return "\n\n".join(tables)


def files_table(choices: Sequence[FileChoice], decision: Decision) -> str:
    """Return the choices in their order, and below them why some are refused, and the outputs.

    With labels there is a column for the share of inputs that were classified right, and of a
    classifier one for those with the same winner as in float.
    """
    own = "" if decision.reference == "float network" else ", own weights"
    winners = ["top-1"] * decision.labelled + ["same as float"] * decision.classifier
    header = (
        *("file", "MiB", "runtime", "init ms", "init MiB", "inference ms", "peak MiB"),
        *(*winners, f"SQNR dB{own}", "at load"),
    )
    rows = [_file_row(choice, decision, len(header)) for choice in choices]
    least = ("peak MiB", "init MiB", "init ms", "at load", "MiB")
    first_to_go = [header.index(name) for name in least]
    text = table(header, rows, left=frozenset({0, 2, len(header) - 1}), first_to_go=first_to_go)
    remarks = {
        f"{choice.file} on {choice.runtime}": choice.refusal or each_output(choice.outputs)
        for choice in choices
    }
    lines = [f"{where}: {remark}" for where, remark in remarks.items() if remark]
    return "\n".join([text, *lines])


def _file_row(choice: FileChoice, decision: Decision, columns: int) -> tuple[str, ...]:
    head = (choice.file, figure(choice.file_bytes / 2**20), choice.runtime)
    if choice.refusal is not None:
        return (*head, *[""] * (columns - len(head) - 1), "refused")
    right, inputs = choice.runtime_top1, choice.inputs or 1
    winners = [percent((right or 0) / inputs)] * decision.labelled
    winners += [f"{choice.same_top1}/{choice.inputs}"] * decision.classifier
    spent = f" ({figure(choice.at_load_us / 1e3)} ms)" if choice.at_load_us else ""
    sizes = (choice.load_memory_bytes, choice.load_memory_low_bytes, choice.load_memory_high_bytes)
    ends = (choice.initialisation_low_us, choice.initialisation_high_us)
    between = span(*((us or 0.0) / 1e3 for us in ends))
    value, low, high = ((size or 0) / 2**20 for size in sizes)
    return (
        *head,
        f"{figure((choice.initialisation_us or 0.0) / 1e3)} ({between})",
        f"{figure(value)} ({span(low, high)})",
        figure((choice.total_inference_us or 0.0) / 1e3),
        figure((choice.peak_memory_bytes or 0) / 2**20),
        *winners,
        decibels(choice.sqnr_db) if choice.outputs else "",
        f"{choice.loading}{spent}",
    )
