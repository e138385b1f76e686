"""A decision as text: the recommendation with its reasons, the ranking, and what is ruled out."""

from collections.abc import Iterator, Sequence

from hexsim.accuracy.output_errors import each_output
from hexsim.accuracy.scores import LEAST_DB
from hexsim.errors import spelled
from hexsim.reports.decision.groups import out_groups
from hexsim.reports.fitting import short_name
from hexsim.reports.inference.energy import REPORTED_FACTOR
from hexsim.reports.text import number, table
from hexsim.studies.decision import Decision, DecisionCandidate, RuledOut, TriedChange
from hexsim.studies.decision.ranking import heads, rule, two_digits
from hexsim.texts.figures import decibels, figure, given, percent, size, span

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


def decision_table(decision: Decision, *, every: bool = False) -> str:
    """Return the ranking: the best of each place and the front, or with `every` all candidates."""
    right = ("top-1",) if decision.labelled else ()
    same = ("same as float",) if decision.classifier else ()
    header = (
        *("rank", "mode", "chip", "runtime", "cut", "ms", "90 % interval"),
        *(*right, *same, "SQNR dB", "peak MiB", "mJ", "front"),
    )
    best = heads(decision.ranked)[:SHOWN]
    rows = [
        _row(rank, candidate, decision)
        for rank, candidate in enumerate(decision.ranked, start=1)
        if every or candidate in best or candidate.in_front
    ]
    at = header.index("cut")
    if not any(row[at] for row in rows):
        header, rows = _without(at, header), [_without(at, row) for row in rows]
    left = frozenset(map(header.index, {"mode", "chip", "runtime", "cut"}.intersection(header)))
    first_to_go = [header.index(name) for name in ("front", "90 % interval", *same[: len(right)])]
    text = table(header, rows, left=left, first_to_go=first_to_go)
    hidden = len(decision.ranked) - len(rows)
    return text + (f"\n(and {hidden} more; {spelled('all', True)} shows them)" if hidden else "")


def _without(column: int, row: tuple[str, ...]) -> tuple[str, ...]:
    return row[:column] + row[column + 1 :]


def recommendation(decision: Decision) -> str:
    """Return sentences on what to take, the rule of the order, and how sure the order is."""
    return "\n".join(_sentences(decision))


def recommended(best: DecisionCandidate) -> str:
    """Return the recommendation without its reasons."""
    return f"Take {best.mode.name} on {_placed(best)}"


def energy_text(mj: float, low_mj: float, high_mj: float) -> str:
    """Return an energy with its bounds."""
    return f"{figure(mj)} mJ ({span(low_mj, high_mj)})"


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
    for candidate in decision.ranked:
        for finding in candidate.accuracy.findings if candidate.accuracy else ():
            losses.setdefault(finding.sentence, {})[candidate.mode.name] = None
    return losses


def changes(decision: Decision) -> str:
    """Return the changes of the network that would help, or the sentence that none does."""
    if not decision.changes:
        return NO_CHANGE if decision.ranked else ""
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


def _row(rank: int, candidate: DecisionCandidate, decision: Decision) -> tuple[str, ...]:
    accuracy, drawn = candidate.accuracy, candidate.drawn
    assert accuracy is not None, "only candidates with accuracy are ranked"
    right = (percent((accuracy.runtime_top1 or 0) / accuracy.inputs),) if decision.labelled else ()
    same = (f"{accuracy.same_top1}/{accuracy.inputs}",) if decision.classifier else ()
    return (
        *(
            str(rank),
            candidate.mode.name,
            candidate.chip,
            candidate.runtime,
            "compiler's" if candidate.timed.cut == "automatic" else candidate.timed.cut,
            figure(candidate.ms),
        ),
        span(drawn.low_us / 1e3, drawn.high_us / 1e3) if drawn else "",
        *(*right, *same, decibels(accuracy.sqnr_db)),
        figure(candidate.peak_mib),
        figure(candidate.timed.energy_mj),
        "*" if candidate.in_front else "",
    )


def _sentences(decision: Decision) -> Iterator[str]:
    if not decision.ranked:
        yield "Nothing is within the limits."
        if nearest := _nearest(decision.ruled_out):
            yield nearest
        return
    best, *others = decision.ranked
    yield f"{recommended(best)}: {_worth(best, decision)}."
    if best.accuracy and (outputs := each_output(best.accuracy.outputs)):
        yield f"{outputs[0].upper()}{outputs[1:]}."
    count = len(decision.ranked)
    within = f"{number(count, 'choice')} {'is' if count == 1 else 'are'} within the limits"
    yield f"Ranked by {rule(decision.prefer)}; {within}."
    if others and others[0].place == best.place:
        other = others[0]
        yield f"Next there is {other.mode.name}, {_reason(best, other, decision)}."
    if elsewhere := heads(decision.ranked)[1:]:
        # Times on the same hardware are wrong together, so the other hardware is the alternative.
        rivals = [other for other in elsewhere if other.hardware != best.hardware]
        yield _next(best, (rivals or elsewhere)[0], decision)
    yield from _noise(decision)
    if (item := _item(decision)) is not None:
        yield item


def _placed(candidate: DecisionCandidate) -> str:
    sections = {
        "automatic": " with the HTA sections of the compiler",
        "fastest": f" with HTA sections {candidate.timed.sections}",
        "none": " without HTA sections",
    }.get(candidate.timed.cut, "")
    return f"{candidate.chip} {candidate.runtime}{sections}"


def _worth(candidate: DecisionCandidate, decision: Decision) -> str:
    assert candidate.accuracy is not None, "only candidates with accuracy are ranked"
    interval = candidate.drawn
    doubt = f" ({span(interval.low_us / 1e3, interval.high_us / 1e3)})" if interval else ""
    parts = [
        f"{figure(candidate.ms)} ms{doubt}",
        f"{size(candidate.timed.peak_bytes)} at its peak",
    ]
    parts.append(
        energy_text(
            candidate.timed.energy_mj, candidate.timed.energy_low_mj, candidate.timed.energy_high_mj
        )
    )
    if candidate.loss is not None:
        kind = "top-1" if decision.labelled else "agreement with float"
        parts.append(f"{figure(candidate.loss)} points of {kind} lost")
    sqnr_db = candidate.accuracy.sqnr_db
    parts.append("exactly as float" if sqnr_db is None else f"{figure(sqnr_db)} dB SQNR")
    return ", ".join(parts)


def _next(best: DecisionCandidate, other: DecisionCandidate, decision: Decision) -> str:
    text = (
        f"Next elsewhere is {other.mode.name} on {_placed(other)}, {_reason(best, other, decision)}"
    )
    factor = other.timed.energy_mj / (best.timed.energy_mj or 1.0)
    if decision.prefer != "energy" and not 1 / REPORTED_FACTOR < factor < REPORTED_FACTOR:
        text += f", and takes {figure(factor)} times the energy"
    if best.drawn and other.drawn and best.timed.total_us != other.timed.total_us:
        share = best.drawn.quicker(other.drawn, paired=best.chip == other.chip)
        text += f"; the first is the quicker one in {share:.0%} of draws"
        text += ", so their order is open" if share < SURE else ""
        text += " and more likely the other way round" if share < 0.5 else ""
    return text + "."


def _reason(best: DecisionCandidate, other: DecisionCandidate, decision: Decision) -> str:
    """Return why the second is behind, by the first criterion of the rule in which they differ."""
    if decision.prefer == "memory":
        figures = (best.timed.peak_bytes, other.timed.peak_bytes)
        if two_digits(figures[0]) != two_digits(figures[1]):
            return f"which needs {figure(figures[1] / figures[0])} times the memory"
    if decision.prefer == "energy":
        energies = (best.timed.energy_mj, other.timed.energy_mj)
        if two_digits(energies[0]) != two_digits(energies[1]):
            return f"which spends {figure(energies[1] / energies[0])} times the energy"
    best_us, other_us = best.expected_us, other.expected_us
    would_be_quicker = other.ms < best.ms and best_us < other_us
    if decision.prefer == "latency" and other.drawn is not None and would_be_quicker:
        return (
            f"which would take {figure(other.ms)} ms with the constants as stated, but is known "
            f"less well ({span(other.drawn.low_us / 1e3, other.drawn.high_us / 1e3)})"
        )
    if decision.prefer == "latency" and two_digits(best_us) != two_digits(other_us):
        return f"which takes {figure(other_us / best_us)} times as long"
    if (best.loss or 0.0) < (other.loss or 0.0):
        return f"which loses {figure((other.loss or 0.0) - (best.loss or 0.0))} points more"
    assert best.accuracy is not None, "only candidates with accuracy are ranked"
    assert other.accuracy is not None, "only candidates with accuracy are ranked"
    if best.accuracy.sqnr_db != other.accuracy.sqnr_db:
        return f"which has {decibels(other.accuracy.sqnr_db)} dB"
    if best_us != other_us:
        return f"which takes {figure(other_us / best_us)} times as long"
    return "which is no better and less plain"


def _noise(decision: Decision) -> Iterator[str]:
    """Yield a sentence on choices whose outputs are mostly noise, if there are any."""
    noisy = [candidate for candidate in decision.ranked if candidate.is_noise]
    if not noisy:
        return
    if len(noisy) == len(decision.ranked):
        text = f"The outputs of no choice have {LEAST_DB:g} dB, which an answer needs to be of use"
    else:
        quickest = min(noisy, key=lambda candidate: candidate.ms)
        text = (
            f"{number(len(noisy), 'choice')} with outputs under {LEAST_DB:g} dB: ranked last, the "
            f"quickest {quickest.mode.name} on {_placed(quickest)} with {figure(quickest.ms)} ms"
        )
    given = f"{spelled('images')} or {spelled('input_list')}"
    doubt = f"; seeded inputs say little of that: give {given}"
    yield f"{text}{doubt if decision.seeded else ''}."


def _item(decision: Decision) -> str | None:
    """Return the weight of one input in per cent, where classes are counted."""
    if not decision.classifier:
        return None
    points = given(100 / decision.items)
    return f"Counted on {number(decision.items, 'input')}: one is {points} points."


def _nearest(ruled_out: Sequence[RuledOut]) -> str | None:
    beyond = [candidate for candidate in ruled_out if candidate.limit]
    if not beyond:
        return None
    return f"{beyond[0].mode} on {beyond[0].chip} {beyond[0].where}: {beyond[0].reason}."
