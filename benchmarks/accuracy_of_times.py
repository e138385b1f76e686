"""Errors of what was left out, by engine: docs/results/accuracy-of-times.md.

    python -m benchmarks.accuracy_of_times                   prints the tables
    python -m benchmarks.accuracy_of_times FOLDER --write    writes them into the page
    python -m benchmarks.accuracy_of_times --copied          only what other files have, in a moment

FOLDER is that of `benchmarks.htp_scoreboard`. --write first writes the tables of tensor processors
and language models into their pages, and nothing else does, so that no page is older than what it
is made of. Both also renew the expected errors of each class of times, which hexsim shows beside
chips and answers (hexsim/datasheets/measurements/expected_errors.csv).
Whole networks are those of the record of the fit (`benchmarks.calibrate --write`). The tables of
layers, of the tensor processor and of language models are those of the pages that have them in
full, so they change with these. Operators, several instances and energy are simulated here.
"""

from __future__ import annotations

import csv
import io
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import htp_scoreboard, llm_scoreboard
from benchmarks.aip_tables import with_sections
from benchmarks.operator_times import compared
from benchmarks.pages import RESULTS, block, fenced, print_or_write, with_blocks
from benchmarks.published_fit import fitted_rows
from hexsim.datasheets import measurements
from hexsim.datasheets.measurements import ANY_CHIP, EXPECTED_ERRORS
from hexsim.datasheets.measurements.calibration import calibration
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.energy import inference_energy
from hexsim.files.atomic_write import write_text
from hexsim.reports.text import table
from hexsim.studies.throughput import Caller, throughput

PAGE = RESULTS / "accuracy-of-times.md"
_LEFT_OUT = ("network left out", "chip left out")
_INSTANCES = "inception_v3"
_BURST = "burst"


def _signed(error: float) -> str:
    return f"{error:+.0%}"


def _spread(errors: Sequence[float]) -> tuple[str, str, str, str]:
    """Return count, median of the sizes, largest, and bias (the median with its sign)."""
    sizes = [abs(error) for error in errors]
    return (
        str(len(errors)),
        f"{statistics.median(sizes):.0%}",
        f"{max(sizes):.0%}",
        _signed(statistics.median(errors)),
    )


def networks() -> str:
    """Return a line per runtime, chip and stack, with the network and with the chip left out."""
    record = calibration()
    both = list(zip(fitted_rows(), record.predictions, strict=True))
    lines = []
    for column in _LEFT_OUT:
        at = record.columns.index(column)
        groups: dict[tuple[str, str, str], list[float]] = {}
        for row, predicted in both:
            if (ms := predicted[at]) is not None:
                key = row.runtime, row.chip, row.stack
                groups.setdefault(key, []).append(ms / row.latency_ms - 1)
        lines += [(column, *key, *_spread(errors)) for key, errors in groups.items()]
    header = ("left out", "runtime", "chip", "release", "rows", "median", "largest", "bias")
    return fenced(table(header, lines, left=frozenset({0, 1, 2, 3})))


def short() -> str:
    """Return a line per runtime and kind of time: errors of a chip of which no time is known."""
    names = {"w8a8": "8 bits", "w8a16": "16-bit activations", "block": "first token", "": "all"}
    lines = [
        (
            *(row["runtime"], names.get(row["precision"], row["precision"]), row["rows"]),
            *(f"{float(row[column]):.0%}" for column in ("median", "most")),
        )
        for row in csv.DictReader(io.StringIO(expected_errors()))
        if row["chip"] == ANY_CHIP
    ]
    header = ("runtime", "times", "chips", "half within", "nine in ten within")
    return fenced(table(header, lines, left=frozenset({0, 1})))


def layers() -> str:
    """Return a line per runtime and class of layer of the phone's profile."""
    page = (RESULTS / "layer-times.md").read_text(encoding="utf-8")
    lines = []
    for runtime in ("dsp", "cpu", "gpu"):
        for line in block(page, runtime).splitlines()[3:-1]:
            *name, count, factor, close, _, _, ratio = line.split()
            lines.append((runtime, " ".join(name), count, factor, close, ratio))
    header = ("runtime", "class", "layers", "median factor", "within 1.3", "sum over measured")
    return fenced(table(header, lines, left=frozenset({0, 1})))


def operators() -> str:
    """Return a line per runtime for the graphs of one operator."""
    errors: dict[str, list[float]] = {}
    for operator in compared():
        errors.setdefault(operator.row.runtime, []).append(operator.ratio - 1)
    lines = [(runtime, *_spread(ratios)) for runtime, ratios in sorted(errors.items())]
    return fenced(
        table(("runtime", "operators", "median", "largest", "bias"), lines, left=frozenset({0}))
    )


def of_page(name: str, marks: str) -> str:
    """Return a table of another page of results."""
    return block((RESULTS / name).read_text(encoding="utf-8"), marks)


def _rows_of_power() -> Iterable[dict[str, str]]:
    path = Path(measurements.__file__).parent / "energy.csv"
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def instances() -> str:
    """Return a line per measured number of instances: inferences a second, and power."""
    platform, lines = Platform.load("sd865"), []
    model = load(_INSTANCES)
    on_aip = with_sections(model, platform).plan
    on_dsp = Deployment(model, platform, "dsp").plan
    for row in sorted(_rows_of_power(), key=lambda row: float(row["power_mw"])):
        callers = [Caller(on_aip, int(row["instances"][0]))]
        if "dsp" in row["instances"]:
            callers.append(Caller(on_dsp, 1))
        answer = throughput(platform, callers)
        rate, power = answer.total.inferences_per_second, answer.average_power_mw
        measured, watts = float(row["inferences_per_s"]), float(row["power_mw"])
        lines.append(
            (
                row["instances"],
                f"{measured:.0f}",
                f"{rate:.0f}",
                _signed(rate / measured - 1),
                f"{watts:.0f}",
                f"{power.value:.0f} ({power.low:.0f} .. {power.high:.0f})",
            )
        )
    header = ("instances", "measured /s", "simulated /s", "error", "measured mW", "simulated mW")
    return fenced(table(header, lines, left=frozenset({0, 5})))


def energy() -> str:
    """Return the energy of one more inference, on the tensor engine and on the DSP."""
    rows = {row["instances"]: row for row in _rows_of_power()}

    def one_more_mj(many: str, few: str) -> float:
        watts, rates = (
            [float(rows[name][column]) for name in (many, few)]
            for column in ("power_mw", "inferences_per_s")
        )
        return (watts[0] - watts[1]) / (rates[0] - rates[1])

    platform, model, lines = Platform.load("sd865"), load(_INSTANCES), []
    for runtime, many, few in (
        ("aip", "4aip in parallel", "2aip in parallel"),
        ("dsp", "4aip and 1dsp in parallel", "4aip in parallel"),
    ):
        deployment = (
            with_sections(model, platform)
            if runtime == "aip"
            else Deployment(model, platform, "dsp")
        )
        (timing,) = deployment.simulate(perf_profile=_BURST).inferences
        corner = platform.stack.profile(_BURST).dsp_corner
        spent = inference_energy(timing, platform.chip, corner)
        simulated = f"{spent.millijoules:.1f} ({spent.low:.1f} .. {spent.high:.1f})"
        lines.append((runtime, f"{one_more_mj(many, few):.1f}", simulated))
    return fenced(table(("runtime", "measured mJ", "simulated mJ"), lines, left=frozenset({0, 2})))


_LEAST_CHIPS = 2
"""With one chip alone, nothing would be left that determines constants when it is left out."""
Error = tuple[str, str, str, str, float]
"""Chip, stack, runtime, precision, and the simulated over the measured time less 1."""
_QNN = "qnn-2.43"
"""The release of all tensor processors."""


def _of_record(column: str) -> Iterable[Error]:
    record = calibration()
    at = record.columns.index(column)
    for row, predicted in zip(fitted_rows(), record.predictions, strict=True):
        if (ms := predicted[at]) is not None:
            runtime = "aip" if row.runtime == "hta" else row.runtime
            yield row.chip, row.stack, runtime, "", ms / row.latency_ms - 1


def _of_tensor_processors(marks: str) -> Iterable[Error]:
    header, _, *lines = (
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in of_page("htp.md", marks).strip().splitlines()
    )
    for cells in lines:
        for column, cell in zip(header[1:], cells[1:], strict=False):
            chip, precision = column.split()
            if cell:
                error = float(cell.removesuffix(" %")) / 100
                is_float = precision == "float"
                yield chip, _QNN, "htp_fp16" if is_float else "htp", "", error
                if not is_float:
                    yield chip, _QNN, "htp", precision, error


def _of_language_models(key: str) -> Iterable[Error]:
    place = ("model", "chip").index(key)
    for line in of_page("llm.md", "rows").strip().splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for kind, at in (("tokens", 4), ("block", 7)):
            if cell := cells[at + place]:
                yield cells[2], _QNN, "llm", kind, float(cell.removesuffix(" %")) / 100


def _typical(errors: Sequence[float]) -> float:
    """The median size of errors with the sign of their median."""
    size = statistics.median(abs(error) for error in errors)
    return -size if statistics.median(errors) < 0 else size


def expected_errors() -> str:
    """Return the file of expected errors: a line per class, of rows that the fit has not seen."""
    own: list[Error] = [
        *_of_record("network left out"),
        *_of_tensor_processors("networks"),
        *_of_language_models("model"),
    ]
    other: list[Error] = [
        *_of_record("chip left out"),
        *_of_tensor_processors("networks of chips"),
        *_of_language_models("chip"),
    ]
    classes: dict[tuple[str, ...], list[float]] = {}
    for *key, error in own:
        classes.setdefault(tuple(key), []).append(error)
    left_out: dict[tuple[str, str], dict[str, list[float]]] = {}
    for chip, _, runtime, precision, error in other:
        left_out.setdefault((runtime, precision), {}).setdefault(chip, []).append(error)
    for (runtime, precision), by_chip in left_out.items():
        if len(by_chip) >= _LEAST_CHIPS:
            classes[ANY_CHIP, "", runtime, precision] = [_typical(e) for e in by_chip.values()]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("chip", "stack", "runtime", "precision", "rows", "median", "most", "bias"))
    for key, errors in sorted(classes.items()):
        sizes = sorted(abs(error) for error in errors)
        middle, bias = statistics.median(sizes), statistics.median(errors)
        most = sizes[min(len(sizes) - 1, round(0.9 * len(sizes)))]
        writer.writerow((*key, len(errors), f"{middle:.3f}", f"{most:.3f}", f"{bias:.3f}"))
    return text.getvalue()


def page() -> str:
    """Return the page with today's tables."""
    return with_blocks(PAGE.read_text(encoding="utf-8"), tables())


def page_with_copies() -> str:
    """Return the page with the tables that other files have as they are today."""
    return with_blocks(PAGE.read_text(encoding="utf-8"), copies())


def copies() -> dict[str, str]:
    """Return the tables that other files have, by their marks."""
    return {
        "short": short(),
        "networks": networks(),
        "layers": layers(),
        "htp": of_page("htp.md", "scoreboard"),
        "htp chips": of_page("htp.md", "chips"),
        "llm": of_page("llm.md", "scoreboard"),
    }


def tables() -> dict[str, str]:
    """Return every table by its mark."""
    simulated = {"operators": operators(), "instances": instances(), "energy": energy()}
    return copies() | simulated


def write_scoreboards() -> None:
    """Write the tables of tensor processors and language models into their pages."""
    for board in (htp_scoreboard, llm_scoreboard):
        blocks = board.tables()
        write_text(board.PAGE, with_blocks(board.PAGE.read_text(encoding="utf-8"), blocks))


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_scoreboards()
    if {"--copied", "--write"} & set(sys.argv):
        write_text(EXPECTED_ERRORS, expected_errors())
    if "--copied" in sys.argv:
        write_text(PAGE, page_with_copies())
        sys.exit()
    print_or_write(PAGE, page, lambda: "\n\n".join(tables().values()))
