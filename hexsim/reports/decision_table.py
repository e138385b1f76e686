"""A decision as text: what to take and why, the ranking, and what is out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hexsim.reports.decision_groups import out_groups
from hexsim.reports.energy_facts import digits
from hexsim.reports.text import number, quantity, table
from hexsim.studies.decision import Decision, DecisionCandidate, RuledOut
from hexsim.studies.decision.candidates import DrawnTotals
from hexsim.studies.decision.ranking import heads, rule, two_digits

SHOWN = 10
"""Places in the ranking, by the best mode of each; those in front stand there besides."""

SURE = 0.9
"""Share of draws from which on an order counts as sure."""


def decision_table(decision: Decision, *, every: bool = False) -> str:
    """Return the ranking: the best of each place and all in front, or with `every` all of it."""
    right = ("top-1",) if decision.labelled else ()
    same = ("same as float",) if decision.classifier else ()
    header = (
        *("rank", "mode", "chip", "runtime", "cut", "ms", "90 % interval"),
        *(*right, *same, "SQNR dB", "peak MiB", "mJ", "front"),
    )
    shown = heads(decision.ranked)[:SHOWN]
    rows = [
        _row(rank, one, decision)
        for rank, one in enumerate(decision.ranked, start=1)
        if every or one in shown or one.in_front
    ]
    words = frozenset({1, 2, 3, 4})
    going = [header.index(name) for name in ("90 % interval", "front", *same[: len(right)])]
    text = table(header, rows, left=words, first_to_go=going)
    rest = len(decision.ranked) - len(rows)
    return text + (f"\n(and {rest} more; --all shows them)" if rest else "")


def recommendation(decision: Decision) -> str:
    """Say in a few sentences what to take, what the order goes by, and how sure it is."""
    return "\n".join(_sentences(decision))


def taken(best: DecisionCandidate) -> str:
    """Say what to take, without why."""
    return f"Take {best.mode.name} on {_placed(best)}"


def spent(mj: float, low_mj: float, high_mj: float) -> str:
    """Return an energy with its ends."""
    return f"{digits(mj)} mJ ({digits(low_mj)} to {digits(high_mj)})"


def ruled_out(decision: Decision, *, every: bool = False) -> str:
    """Return what is out and why; with a reason for each, or how often each limit was met."""
    groups = out_groups(decision.ruled_out)
    beyond = [group for group in groups if group.limit]
    lines = [
        f"{', '.join(group.modes)} on {', '.join(group.places)}: {group.reason}"
        for group in groups
        if not group.limit
    ]
    if every:
        those = [out for one in beyond for out in one.those]
        lines += [f"{one.mode} on {one.chip} {one.where}: {one.reason}" for one in those]
    elif beyond:
        told = ", ".join(f"{len(one.those)} beyond {one.limit}" for one in beyond)
        lines.append(f"{told} (--all shows them)")
    return "Ruled out\n" + "\n".join(f"  {line}" for line in lines) if lines else ""


def _row(rank: int, one: DecisionCandidate, decision: Decision) -> tuple[str, ...]:
    accuracy, drawn = one.accuracy, one.drawn
    assert accuracy is not None, "only what has answers is ranked"
    right = (f"{(accuracy.runtime_top1 or 0) / accuracy.inputs:.2%}",) if decision.labelled else ()
    same = (f"{accuracy.same_top1}/{accuracy.inputs}",) if decision.classifier else ()
    return (
        *(str(rank), one.mode.name, one.chip, one.runtime, one.timed.cut, f"{one.ms:.2f}"),
        f"{drawn.low_us / 1e3:.2f} to {drawn.high_us / 1e3:.2f}" if drawn else "",
        *(*right, *same, _db(accuracy.sqnr_db)),
        f"{one.peak_mib:.1f}",
        digits(one.timed.energy_mj),
        "*" if one.in_front else "",
    )


def _db(sqnr_db: float | None) -> str:
    return "exact" if sqnr_db is None else f"{sqnr_db:.1f}"


def _sentences(decision: Decision) -> Iterator[str]:
    if not decision.ranked:
        yield "Nothing is within the limits."
        if nearest := _nearest(decision.ruled_out):
            yield nearest
        return
    best, *others = decision.ranked
    yield f"{taken(best)}: {_worth(best, decision)}."
    if best.drawn is not None and (outside := _outside(best, best.drawn)):
        yield outside
    count = len(decision.ranked)
    within = f"{number(count, 'choice')} {'is' if count == 1 else 'are'} within the limits"
    yield f"Ranked by {rule(decision.prefer)}; {within}."
    if others and others[0].place == best.place:
        other = others[0]
        yield f"Next there is {other.mode.name}, {_reason(best, other, decision)}."
    if elsewhere := heads(decision.ranked)[1:]:
        yield _next(best, elsewhere[0], decision)
    if (item := _item(decision)) is not None:
        yield item


def _placed(one: DecisionCandidate) -> str:
    sections = {
        "automatic": " with the HTA sections of the compiler",
        "fastest": f" with HTA sections {one.timed.sections}",
        "none": " without HTA sections",
    }.get(one.timed.cut, "")
    return f"{one.chip} {one.runtime}{sections}"


def _worth(one: DecisionCandidate, decision: Decision) -> str:
    assert one.accuracy is not None, "only what has answers is ranked"
    interval = one.drawn
    doubt = f" ({interval.low_us / 1e3:.2f} to {interval.high_us / 1e3:.2f})" if interval else ""
    parts = [f"{one.ms:.2f} ms{doubt}", f"{quantity(one.timed.peak_bytes, 'B')} at its peak"]
    parts.append(spent(one.timed.energy_mj, one.timed.energy_low_mj, one.timed.energy_high_mj))
    if one.loss is not None:
        what = "top-1" if decision.labelled else "agreement with float"
        parts.append(f"{one.loss:.2f} points of {what} lost")
    sqnr_db = one.accuracy.sqnr_db
    parts.append("exactly as float" if sqnr_db is None else f"{sqnr_db:.1f} dB SQNR")
    return ", ".join(parts)


def _outside(best: DecisionCandidate, drawn: DrawnTotals) -> str | None:
    """What is to be made of a time that is not within its own interval."""
    us = best.timed.total_us
    if drawn.low_us <= us <= drawn.high_us:
        return None
    below = us < drawn.low_us
    return (
        f"Its time is {'below' if below else 'above'} its interval: what is not known of the "
        f"constants can make it {'longer' if below else 'shorter'}, and hardly "
        f"{'shorter' if below else 'longer'}."
    )


def _next(best: DecisionCandidate, other: DecisionCandidate, decision: Decision) -> str:
    text = (
        f"Next elsewhere is {other.mode.name} on {_placed(other)}, {_reason(best, other, decision)}"
    )
    if decision.sure and best.timed.total_us != other.timed.total_us:
        share = decision.sure[0]
        text += f"; the first is the quicker one in {share:.0%} of draws"
        text += ", so their order is open" if share < SURE else ""
        text += " and more likely the other way round" if share < 0.5 else ""
    return text + "."


def _reason(best: DecisionCandidate, other: DecisionCandidate, decision: Decision) -> str:
    """What the second has less of, in the order of the rule."""
    if decision.prefer == "memory":
        figures = (best.timed.peak_bytes, other.timed.peak_bytes)
        if two_digits(figures[0]) != two_digits(figures[1]):
            return f"which needs {figures[1] / figures[0]:.2f} times the memory"
    if decision.prefer == "energy":
        spent = (best.timed.energy_mj, other.timed.energy_mj)
        if two_digits(spent[0]) != two_digits(spent[1]):
            return f"which spends {spent[1] / spent[0]:.2f} times the energy"
    mine, theirs = best.timed.total_us, other.timed.total_us
    if decision.prefer == "latency" and two_digits(mine) != two_digits(theirs):
        return f"which takes {theirs / mine:.2f} times as long"
    if (best.loss or 0.0) < (other.loss or 0.0):
        return f"which loses {(other.loss or 0.0) - (best.loss or 0.0):.2f} points more"
    assert best.accuracy is not None, "only what has answers is ranked"
    assert other.accuracy is not None, "only what has answers is ranked"
    if best.accuracy.sqnr_db != other.accuracy.sqnr_db:
        return f"which has {_db(other.accuracy.sqnr_db)} dB"
    if mine != theirs:
        return f"which takes {theirs / mine:.2f} times as long"
    return "which is no better and less plain"


def _item(decision: Decision) -> str | None:
    """What one input weighs, where classes are counted."""
    if not decision.classifier:
        return None
    return (
        f"Counted on {number(decision.items, 'input')}: one is {100 / decision.items:.3g} points."
    )


def _nearest(out: Sequence[RuledOut]) -> str | None:
    beyond = [one for one in out if one.limit]
    if not beyond:
        return None
    return f"{beyond[0].mode} on {beyond[0].chip} {beyond[0].where}: {beyond[0].reason}."
