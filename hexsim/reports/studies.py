"""Studies as text: instances at once, always-on, language models, sweeps, and comparisons.

A calibration with a user's own measurements is one of them.
"""

from collections.abc import Sequence
from statistics import median

from hexsim.datasheets.quantity import Estimate
from hexsim.records import dataclass
from hexsim.reports.inference import millijoules, ranged
from hexsim.reports.text import error_lines, number, quantity, table
from hexsim.results.always_on import AlwaysOn
from hexsim.results.calibration import CalibratedRow, Calibration
from hexsim.results.language_model import LanguageModel, Pass
from hexsim.results.sweep import Effects, Sweep
from hexsim.results.throughput import PERCENTILES, Calls, Thread, Throughput
from hexsim.runtimes import placed
from hexsim.texts.csv_text import csv_text
from hexsim.texts.figures import figure, given, percent

_HEADER = ("thread", "network", "runtime", "priority", "images", "infs/sec", "alone infs/sec")
_FIRST_TO_GO = (
    *("min ms", "p90 ms", "max ms", "priority", "images", "alone ms", "alone infs/sec"),
    "runtime",
)


def throughput_text(throughput: Throughput) -> str:
    """Return the table of threads (latencies in ms), the utilisation and the verdict."""
    header = (*_HEADER, *(f"{name} ms" for name in PERCENTILES), "alone ms")
    first_to_go = [header.index(name) for name in _FIRST_TO_GO]
    rows = [_workloads_row(number, thread) for number, thread in enumerate(throughput.threads)]
    uses = [(resource, f"{share:.0%}") for resource, share in throughput.utilisation.items()]
    rate = figure(throughput.total.inferences_per_second)
    milliwatts = throughput.average_power_mw
    places = (
        placed(each.network, each.runtime, throughput.chip, each.precision)
        for each in throughput.threads
    )
    sections = (f"{name} on aip: {why}\n" for name, why in throughput.hta_choices.items())
    return "\n\n".join(
        (
            "\n".join(
                (
                    *dict.fromkeys(places),
                    f"{''.join(sections)}{throughput.software}, {throughput.perf_profile}",
                    *error_lines(throughput.expected_errors),
                )
            ),
            table(header, rows, left=frozenset({0, 1, 2, 3}), first_to_go=first_to_go),
            table(("resource", "in use"), uses),
            f"Total throughput: {rate} infs/sec, "
            f"{figure(throughput.gain)} times the work of one instance by itself\n"
            f"Average power: {figure(milliwatts.value)} mW, {figure(milliwatts.low)} to "
            f"{figure(milliwatts.high)} by assumed constants of energy.\n{_verdict(throughput)}",
            *repeats(throughput),
        )
    )


def repeats(throughput: Throughput) -> list[str]:
    """Return a sentence on calls that are not simulated because calls repeat, if there are any."""
    if throughput.repeats is None:
        return []
    period = f"{figure(throughput.repeats.period_us / 1e3)} ms"
    return [
        f"Calls repeat every {period}, so {throughput.repeats.simulated} of "
        f"{throughput.total.inferences} are simulated and the others follow."
    ]


def _verdict(throughput: Throughput) -> str:
    shares = throughput.utilisation
    if (limit := throughput.limited_by) is not None:
        return f"Limited by {limit}, in use {shares[limit]:.0%} of the time."
    busiest = max(shares, key=lambda name: shares[name])
    return (
        f"Limited by the length of the calls. More instances would raise the throughput by up to "
        f"{1 / shares[busiest] - 1:.0%}; then {busiest} would be in use all the time."
    )


def _workloads_row(number: int, thread: Thread) -> tuple[str, ...]:
    return (
        f"{number}",
        thread.network,
        thread.runtime,
        thread.priority,
        f"{thread.inferences}",
        figure(thread.inferences_per_second),
        figure(thread.alone.inferences_per_second),
        *(_ms(thread, name) for name in PERCENTILES),
        _ms(thread.alone, "median"),
    )


def _ms(calls: Calls, percentile: str) -> str:
    return figure(calls.latency_us[percentile] / 1e3)


_MHZ = 1e6
_NONE = Estimate()


def always_on_text(study: AlwaysOn) -> str:
    """Return a row for each part, how each alternative comes about, and the verdict."""
    head = (
        f"{study.network} every {study.every_ms:g} ms on {study.chip}, {study.software}, "
        f"{study.perf_profile}\n"
    )
    possible = [alternative for alternative in study.alternatives if not alternative.refusal]
    parts = dict.fromkeys(part for alternative in possible for part in alternative.parts_mw)
    header = ("average power", *(alternative.where for alternative in possible))
    rows = [
        (
            f"{part} (mW)",
            *(ranged(alternative.parts_mw.get(part, _NONE)) for alternative in possible),
        )
        for part in parts
        if any(alternative.parts_mw.get(part, _NONE).high for alternative in possible)
    ]
    rows += [
        ("total (mW)", *(ranged(alternative.power) for alternative in possible)),
        ("awake", *(percent(alternative.duty) for alternative in possible)),
        ("one call (ms)", *(figure(alternative.call_ms) for alternative in possible)),
        (
            "clock (MHz)",
            *(
                f"{alternative.clock_hz / _MHZ:.0f} ({alternative.corner})"
                for alternative in possible
            ),
        ),
    ]
    notes = [text for alternative in possible for text in alternative.elsewhere]
    refused = [
        f"{alternative.where}: refused, because {alternative.refusal}"
        for alternative in study.alternatives
        if alternative.refusal
    ]
    return "\n".join([head, table(header, rows), "", *notes, *refused, verdict(study)])


def verdict(study: AlwaysOn) -> str:
    """Return the sentence on which alternative is the better."""
    better, *alternatives = study.possible
    if not alternatives:
        return f"Average power on the {better.where}: {ranged(better.power)} mW."
    ratio = alternatives[0].power.value / better.power.value
    sure = (
        "with all constants at either end too"
        if study.at_both_ends
        else "but not with all constants at either end"
    )
    return f"The {better.where} is the better: 1/{figure(ratio)} of the power, {sure}."


_GB = 1e9


@dataclass(frozen=True)
class TitledTable:
    """A table under a title; `remark` are sentences after it."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remark: str


def llm_text(speed: LanguageModel) -> str:
    """Return tables of speeds, of where the time goes, of memory, and of what changes gain."""
    blocks = [llm_title(speed), llm_headline(speed)]
    for section in llm_sections(speed):
        blocks += [table(section.header, section.rows), section.remark]
    return "\n\n".join(blocks)


def llm_title(speed: LanguageModel) -> str:
    """Return which model is on which platform."""
    weights = f"{figure(speed.parameters / 1e9)} billion weights"
    chip, software = speed.chip, speed.software
    return f"{speed.architecture.name} ({weights}) on {chip}, {software}"


def llm_headline(speed: LanguageModel) -> str:
    """Return the rate and the times in one sentence."""
    prompt = speed.conditions.prompt
    first, whole = figure(speed.first_token_ms[prompt] / 1e3), figure(speed.total_ms / 1e3)
    return (
        f"{figure(speed.tokens_per_second)} tokens/s, first token after {first} s for {prompt} "
        f"tokens of prompt; {whole} s with {number(speed.conditions.generate, 'generated token')}"
        f"{'' if speed.expected_error is None else f'; {speed.expected_error}'}"
    )


def llm_sections(speed: LanguageModel) -> list[TitledTable]:
    """Return all tables, that of changes only if there are any."""
    made = [_prompts(speed), _positions(speed), _shares(speed), _fit(speed)]
    return [*made, *([_gains(speed)] if speed.what_if else [])]


def _gains(speed: LanguageModel) -> TitledTable:
    first_ms = speed.first_token_ms[speed.conditions.prompt]
    rows = [
        (
            gain.change,
            figure(gain.tokens_per_second),
            percent(gain.tokens_per_second / speed.tokens_per_second - 1, "+"),
            figure(gain.first_token_ms),
            percent(gain.first_token_ms / first_ms - 1, "+"),
            figure(gain.peak_bytes / _GB),
        )
        for gain in speed.what_if
    ]
    head = ("what if", "tokens/s", "change", "first token ms", "change", "peak GB")
    return TitledTable("What would help", head, rows, "Each change alone, simulated anew.")


def _prompts(speed: LanguageModel) -> TitledTable:
    rows = [(f"{prompt}", figure(ms)) for prompt, ms in speed.first_token_ms.items()]
    header, remark = ("prompt", "first token ms"), "A prompt is processed in whole blocks."
    return TitledTable("Time to the first token", header, rows, remark)


def _positions(speed: LanguageModel) -> TitledTable:
    rows = [(str(at), figure(rate)) for at, rate in speed.tokens_per_second_by_context.items()]
    remark = (
        "Each row is a graph compiled for a context of that length. It attends to all of it, so "
        "its speed is the same at all positions."
    )
    return TitledTable("Tokens per second", ("context", "tokens/s"), rows, remark)


def _shares(speed: LanguageModel) -> TitledTable:
    passes = (speed.token, speed.block)
    rows = [
        (name, *(cell for run in passes for cell in _spent(run, run.parts_ms[name])))
        for name in speed.token.parts_ms
    ]
    rows.append(("total", *(cell for run in passes for cell in _spent(run, run.ms))))
    block = f"block of {speed.conditions.block}"
    header = ("time", "token ms", "share", f"{block} ms", "share")
    remark = "A layer takes as long as the slowest of computing and fetching its weights."
    return TitledTable("Where the time goes", header, rows, remark)


def _spent(run: Pass, ms: float) -> tuple[str, str]:
    return figure(ms), f"{ms / run.ms:.0%}"


def _fit(speed: LanguageModel) -> TitledTable:
    memory, largest = speed.memory_bytes, max(part.bytes for part in speed.parts)
    names = ("weights", "embedding", "cache", "activations", "peak", "peak_without_sharing")
    rows = [(name.replace("_", " "), figure(getattr(memory, name) / _GB)) for name in names]
    remark = (
        f"Fits in {number(len(speed.parts), 'part')} of at most "
        f"{speed.conditions.part_gb:g} GB; the largest has {figure(largest / _GB)} GB of weights "
        f"and cache.\nA token moves {figure(speed.token.ddr_bytes / _GB)} GB from and to DDR, "
        f"a block {figure(speed.block.ddr_bytes / _GB)} GB.\n"
        f"A token takes {millijoules(speed.token.energy)} mJ, a block "
        f"{millijoules(speed.block.energy)} mJ, by assumed constants."
    )
    return TitledTable("Memory, traffic and energy", ("memory", "GB"), rows, remark)


_MOST_PAIRS = 5
_SHOWN = 0.005
"""Parts of the variance below half a percent are left out."""


def sweep_text(sweep: Sweep) -> str:
    """Return all of it: the counts, the front, and what matters to each figure."""
    return "\n\n".join(
        (sweep_summary(sweep), front_table(sweep), *map(effects_table, sweep.effects))
    )


def sweep_cells(sweep: Sweep) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells of the front, as a notebook shows it."""
    names = list(sweep.shown_columns)
    return names, [[cell(row[name]) for name in names] for row in sweep.front]


def sweep_csv(sweep: Sweep) -> str:
    """Return the front with all columns as CSV."""
    names = list(sweep.front[0])
    return csv_text(names, ([row[name] for name in names] for row in sweep.front))


def sweep_summary(sweep: Sweep) -> str:
    """Return the number of points, refusals, and values outside the bounds of their constants."""
    points, varied = number(sweep.points, "point"), number(len(sweep.varied), "parameter")
    lines = [f"{points}, {varied} varied; swept by hexsim {sweep.version}"]
    lines += [sweep.calibration] * bool(sweep.calibration)
    lines += error_lines(sweep.expected_errors)
    sizes: Sequence[float] = sweep.space.get("vtcm_mb") or ()
    if sizes:
        lines.append(f"VTCM of a graph: {' or '.join(f'{size:g}' for size in sizes)} MB")
    if sweep.refused:
        refused = number(sweep.refused, "point")
        lines.append(f"refused: {refused}, the first because {sweep.refusal}")
    if sweep.outside_bounds:
        lines.append(f"some values are outside the bounds of: {', '.join(sweep.outside_bounds)}")
    return "\n".join(lines)


def front_table(sweep: Sweep) -> str:
    """Return the parameters that vary and the figures of the points that nothing beats."""
    header = ("point", *sweep.varied, *sweep.figures)
    cells = [tuple(cell(row[name]) for name in header) for row in sweep.front]
    parameters = range(1, 1 + len(sweep.varied))
    return table(header, cells, first_to_go=tuple(parameters)[::-1])


def effects_table(effects: Effects) -> str:
    """Return each parameter's part of the variance, then the pairs with an effect of their own."""
    title = f"{effects.figure}: {spread_text(effects)}"
    if not effects.alone:
        return f"{effects.figure} is the same at all points"
    rows = [(name, f"{part:.0%}") for name, part in effects.alone.items()]
    pairs = [
        (" with ".join(pair.parameters), f"{pair.part:.0%}")
        for pair in effects.together[:_MOST_PAIRS]
        if pair.part >= _SHOWN
    ]
    return f"{title}\n{table(('parameter', 'part of its variance'), [*rows, *pairs])}"


def spread_text(effects: Effects) -> str:
    """Return how far most points lie apart."""
    return f"nine in ten points lie within a factor of {figure(effects.spread)}"


_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def cell(value: object) -> str:
    """Return a value of a column as text, a large one with a prefix: `60 G`."""
    if not isinstance(value, float):
        return str(value)
    for factor, prefix in _LARGE:
        if factor <= abs(value) < 1000 * factor:
            return f"{given(value / factor)} {prefix}"
    return given(value)


def calibration_text(calibration: Calibration) -> str:
    """Return the constants that moved, then each row before and after, then the errors."""
    chip, stack = calibration.chip, calibration.stack
    rows_text = number(len(calibration.measured), "row")
    changed = [constant for constant in calibration.constants if constant.reported]
    rows = [
        (
            constant.constant,
            constant.stated_by,
            quantity(constant.before, constant.unit),
            f"x/ {figure(constant.one_sigma_factor_before)}",
            quantity(float(figure(constant.after)), constant.unit),
            f"x/ {figure(constant.one_sigma_factor_after)}",
        )
        for constant in changed
    ]
    header = ("constant", "stated by", "before", "one sigma", "after", "one sigma")
    return "\n".join(
        [
            f"{chip}, {stack}: {len(calibration.constants)} constants affect {rows_text}; "
            f"{len(changed)} have another value or a smaller error now",
            table(header, rows, left=frozenset({0, 1})),
            "",
            *_tables(calibration.measured),
            "",
            _errors(calibration),
        ]
    )


def _tables(rows: Sequence[CalibratedRow]) -> list[str]:
    """Return the table of runs, and the one of classes of layers; none that would be empty."""
    runs = [row for row in rows if not _is_layer(row)]
    layers = [row for row in rows if _is_layer(row)]
    tables = [_rows_table(runs)] if runs else []
    return tables + (["", *_classes_table(layers)] if runs and layers else _classes_table(layers))


def _rows_table(rows: Sequence[CalibratedRow]) -> str:
    lines = [
        (
            row.runtime,
            row.network,
            "forward" if row.figure == "forward_propagate" else "total",
            given(row.measured_ms),
            *(_with_error(ms, row) for ms in (row.before_ms, row.after_ms, row.left_out_ms)),
        )
        for row in rows
    ]
    times = ("measured ms", "before ms", "after ms", "left out ms")
    header = ("runtime", "network", "figure", *times)
    return table(header, lines, left=frozenset({0, 1, 2}))


def _is_layer(row: CalibratedRow) -> bool:
    return row.layer is not None


def _classes_table(rows: Sequence[CalibratedRow]) -> list[str]:
    """Return a table with the median errors of each class of layers; nothing without layers."""
    classes: dict[tuple[str, str], list[CalibratedRow]] = {}
    for row in rows:
        classes.setdefault((row.runtime, row.layer_class or ""), []).append(row)
    lines = []
    for (runtime, name), members in classes.items():
        columns = zip(
            *((row.before_ms, row.after_ms, row.left_out_ms) for row in members), strict=True
        )
        errors = (_median_error(members, times) for times in columns)
        lines.append((runtime, name, str(len(members)), *errors))
    header = ("runtime", "class of layer", "layers", "before", "after", "left out")
    return [table(header, lines, left=frozenset({0, 1}))] if lines else []


def _median_error(rows: Sequence[CalibratedRow], times_ms: Sequence[float | None]) -> str:
    errors = [
        abs(ms / row.measured_ms - 1)
        for row, ms in zip(rows, times_ms, strict=True)
        if ms is not None
    ]
    return f"{median(errors):.0%}" if errors else ""


def _errors(calibration: Calibration) -> str:
    """Return a sentence for each measure of the error of the rows."""
    rows = calibration.measured
    before, after = (
        median(abs(ms / row.measured_ms - 1) for row, ms in pairs)
        for pairs in ([(row, row.before_ms) for row in rows], [(row, row.after_ms) for row in rows])
    )
    lines = [f"Median error of the rows: {percent(before)} before, {percent(after)} after."]
    unseen = [
        abs(row.left_out_ms / row.measured_ms - 1) for row in rows if row.left_out_ms is not None
    ]
    if unseen:
        lines.append(f"Each predicted by a calibration with the others: {percent(median(unseen))}.")
    if (alone := calibration.one_run_alone) is not None:
        lines.append(
            f"One run alone leaves {percent(alone.median_error_of_others_after)} on the others, "
            f"which is {percent(alone.median_error_of_others_before)} without it."
        )
    return "\n".join(lines)


def _with_error(ms: float | None, row: CalibratedRow) -> str:
    return "" if ms is None else f"{figure(ms)} ({ms / row.measured_ms - 1:+.0%})"
