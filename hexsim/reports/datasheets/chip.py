"""Chips as text: the device table of the SNPE guide, and a page with all facts of one chip."""

from collections.abc import Iterator, Sequence

from hexsim.datasheets import islands, stacks
from hexsim.datasheets.chips import Chip
from hexsim.datasheets.energies import datasheet_of
from hexsim.datasheets.measurements import FEWEST, expected_error
from hexsim.datasheets.stacks import Stack
from hexsim.reports.datasheets.table import datasheet_table
from hexsim.reports.text import table
from hexsim.runtimes import Runtime


def chip_table(chips: Sequence[Chip]) -> str:
    """Return a line per chip, simulated ones first; a runtime in brackets is not simulated."""
    releases = {name: stacks.load(name) for name in {chip.default_stack for chip in chips}}
    rows = []
    for chip in sorted(chips, key=lambda chip: not any(map(chip.simulates, chip.runtimes))):
        release = releases[chip.default_stack]
        names = _runtimes(chip, release)
        runtimes = (r if chip.simulates(r) else f"({r})" for r in names)
        rows.append(
            (
                chip.name,
                chip.asic.upper(),
                chip.title,
                chip.dsp_words,
                chip.first_listed,
                chip.default_stack,
                " ".join(_errors(chip, names)),
                " ".join(runtimes),
            )
        )
    header = ("chip", "part", "name", "DSP", "listed by", "stack", "error", "runtimes")
    left = frozenset(range(len(header)))
    explained: dict[tuple[str, ...], str] = {("error",): _ERROR_OF_TIMES}
    return table(header, rows, left=left, first_to_go=(2, 4, 5, 6), explained=explained)


_ERROR_OF_TIMES = (
    "median error of times, where a network was measured that the fit had not seen; in brackets "
    f"that of all chips, each left out, as fewer than {FEWEST} times of this one are published"
)


def _errors(chip: Chip, runtimes: Sequence[Runtime]) -> Iterator[str]:
    """Yield the expected error of every runtime of which one is known."""
    for runtime in runtimes:
        if chip.simulates(runtime) and (
            error := expected_error(chip.name, chip.default_stack, runtime)
        ):
            shown = f"{error.median:.0%}"
            yield f"{runtime} {shown if error.chip == chip.name else f'({shown})'}"


def _runtimes(chip: Chip, release: Stack) -> list[Runtime]:
    """Return the runtimes of the device table, and fxp_cpu only if the chip's stack has it.

    Every chip can compute in integers on its CPU; whether a runtime does is a matter of release.
    """
    return [name for name in chip.runtimes if name != "fxp_cpu" or name in release.runtimes]


def chip_page(chip: Chip) -> str:
    """Return the facts of a chip, why it is not simulated if so, and every constant and source."""
    title, _, constants = datasheet_table(chip, without=_inapplicable(chip)).partition("\n")
    lines = [title, *_facts(chip)]
    if any(chip.quantities()):
        lines += ["", constants]
    if any(map(chip.simulates, chip.runtimes)):
        energies, island = datasheet_of(chip), islands.find(chip)
        hexagon = {"dsp", "htp"}.intersection(chip.runtimes)
        parts = {
            "hta.": "aip" in chip.runtimes,
            "htp.": "htp" in chip.runtimes,
            "dsp.": hexagon,
            "dsp.vtcm_j": chip.dsp_table is None or chip.dsp_table.vtcm_bytes,
            "idle.dsp_": hexagon,
            "island.": islands.find(chip),
        }
        absent = tuple(part for part, is_there in parts.items() if not is_there)
        unused = [path for path, _ in energies.quantities() if path.startswith(absent)]
        lines += ["", datasheet_table(energies, without=unused)]
        if island:
            lines += ["", datasheet_table(island)]
    return "\n".join(lines)


def _inapplicable(chip: Chip) -> frozenset[str]:
    """Return the constants that mean nothing on a barrel, which issues by turns."""
    if chip.dsp_table is None or chip.dsp_table.multithreading != "barrel":
        return frozenset()
    return frozenset({"dsp.issue_clk_per_packet", "dsp.lone_thread_speedup"})


def _facts(chip: Chip) -> Iterator[str]:
    if chip.part_numbers:
        yield f"part number: {', '.join(chip.part_numbers).upper()}"
    if chip.dsp_words:
        yield f"DSP: {chip.dsp_words}"
    if _inapplicable(chip):
        clock_hz, threads = chip.dsp.clock_hz("turbo"), chip.dsp.hardware_threads
        yield (
            f"barrel: {clock_hz / 1e6:.0f} MHz are {threads} threads of "
            f"{clock_hz / threads / 1e6:.0f} MHz, which take turns"
        )
    if chip.first_listed:
        yield f"listed by: {chip.first_listed}"
    runtimes = _runtimes(chip, stacks.load(chip.default_stack))
    yield f"runtimes: {', '.join(runtimes)}; stack {chip.default_stack}"
    simulated = any(map(chip.simulates, chip.runtimes))
    if simulated:
        without = _inapplicable(chip)
        constants = [constant for path, constant in chip.quantities() if path not in without]
        assumed = sum(constant.confidence == "assumed" for constant in constants)
        yield f"assumed: {assumed} of {len(constants)} constants, each with its bounds below"
        if chip.note:
            yield f"note: {chip.note}"
    else:
        yield f"not simulated: {_refusal(chip)}"


def _refusal(chip: Chip) -> str:
    """Return the refusal of the DSP runtime, or of the first runtime of a chip without one."""
    return chip.refusal("dsp" if "dsp" in chip.runtimes else chip.runtimes[0]) or chip.note
