"""The tables of docs/results/timing-model.md and docs/reference/constants.md, the profile that
docs/concepts/timing-model.md begins with, and the errors that README.md shows.

python -m benchmarks.timing_model --write    puts them into the pages

Constants come from the chip and stack files, figures of the fit from its record; only the two
readings of the entry cost and the profile are simulated here.
"""

from __future__ import annotations

import sys

from benchmarks.calibration_report import constants_table, rows_table, summaries, trades_table
from benchmarks.entry_readings import readings_table
from benchmarks.pages import CONCEPTS, REFERENCE, RESULTS, ROOT, fenced, with_block
from benchmarks.published_fit import fitted_rows
from hexsim.datasheets import chips, stacks
from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.measurements import expected_error
from hexsim.datasheets.measurements.calibration import calibration
from hexsim.datasheets.quantity import Quantity
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.files.atomic_write import write_text
from hexsim.reports.text import quantity, table
from hexsim.texts.figures import figure

README = ROOT / "README.md"
TIMING = RESULTS / "timing-model.md"
CONCEPT = CONCEPTS / "timing-model.md"
CONSTANTS = REFERENCE / "constants.md"
_LAYERS_SHOWN = 6


def timing_page() -> str:
    """Return docs/results/timing-model.md with the tables of today."""
    record, rows = calibration(), fitted_rows()
    cells = record.predictions
    validation = (
        f"{rows_table(rows, record.columns, cells)}\n\n{summaries(rows, record.columns, cells)}"
    )
    text = TIMING.read_text(encoding="utf-8")
    for name, body in {
        "calibration": constants_table(record),
        "trades": trades_table(record),
        "validation": validation,
        "readings": readings_table(),
    }.items():
        text = with_block(text, name, fenced(body))
    return text


def concept_page() -> str:
    """Return docs/concepts/timing-model.md with the profile of today."""
    return with_block(CONCEPT.read_text(encoding="utf-8"), "example", fenced(profile()))


def profile() -> str:
    """Return the first layers of a profile and the parts of its call, and some of its columns."""
    platform = Platform.load("sd855")
    inference = deploy(load("squeezenet1_1"), platform, "dsp").simulate().inferences[0]
    lines = [
        (
            layer.name,
            figure(layer.us),
            f"{layer.packets}",
            f"{layer.bound} {layer.bound_share:.0%}",
        )
        for layer in inference.layers[:_LAYERS_SHOWN]
    ]
    lines.append(("...", "", "", ""))
    lines += [(f"({part.name})", figure(part.us), "", "") for part in inference.overheads]
    lines.append(("total inference", figure(inference.total_ps / 1e6), "", ""))
    return table(("layer", "us", "packets", "bound"), lines, left=frozenset({0, 3}))


_IN_README = ("dsp", "hta")


_OF_OTHER_CHIPS = {
    ("htp", ""): "htp, codes of 8 and 16 bits",
    ("htp_fp16", ""): "htp_fp16, floats",
    ("llm", "tokens"): "tokens of language models",
    ("llm", "block"): "their blocks of a prompt",
}


def other_chips() -> str:
    """Return the errors of tensor processors and language models with the chip left out."""
    rows = [
        (words, f"{error.median:.0%}", f"{error.most:.0%}", f"{error.rows}")
        for (runtime, precision), words in _OF_OTHER_CHIPS.items()
        if (error := expected_error("a chip of the user", "", runtime, precision)) is not None
    ]
    return table(("chip left out", "median error", "nine in ten", "chips"), rows)


def readme_page() -> str:
    """Return README.md with summaries of errors: on DSP and HTA, and of tensor processors."""
    record = calibration()
    both = zip(fitted_rows(), record.predictions, strict=True)
    rows, cells = zip(*((r, c) for r, c in both if r.runtime in _IN_README), strict=True)
    errors = fenced(summaries(rows, record.columns, cells))
    text = with_block(README.read_text(encoding="utf-8"), "errors", errors)
    return with_block(text, "other_chips", fenced(other_chips()))


def constants_page() -> str:
    """Return docs/reference/constants.md with every constant of today."""
    text = CONSTANTS.read_text(encoding="utf-8")
    stack_sheets = [stacks.load(name) for name in stacks.names()]
    chip_sheets = [chips.load(name) for name in chips.names()]
    text = with_block(text, "stacks", owners_table(stack_sheets))
    return with_block(text, "chips", owners_table(chip_sheets))


def owners_table(datasheets: list[Datasheet] | list[stacks.Stack] | list[chips.Chip]) -> str:
    """Return a line per constant; datasheets that state the same share one."""
    stated: dict[tuple[str, Quantity], list[str]] = {}
    full = 0
    for datasheet in datasheets:
        constants = list(datasheet.quantities())
        full += bool(constants)
        for path, constant in constants:
            stated.setdefault((path, constant), []).append(datasheet.name)
    lines = [
        "| constant | value | confidence | bounds | stated by | source |",
        "|---|---|---|---|---|---|",
    ]
    for (path, constant), names in sorted(stated.items(), key=lambda item: item[0][0]):
        value = quantity(constant.value, constant.unit)
        who = "all" if len(names) == full else ", ".join(names)
        lines.append(
            f"| {path} | {value} | {constant.confidence} | {_bounds(constant)} | {who} "
            f"| {constant.source} |"
        )
    return "\n".join(lines)


def _bounds(constant: Quantity) -> str:
    if constant.low is None or constant.high is None:
        return ""
    return " .. ".join(quantity(end, constant.unit) for end in (constant.low, constant.high))


def write() -> None:
    """Renew the pages."""
    calibration.cache_clear()
    write_text(README, readme_page())
    write_text(TIMING, timing_page())
    write_text(CONCEPT, concept_page())
    write_text(CONSTANTS, constants_page())


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        print(timing_page())
