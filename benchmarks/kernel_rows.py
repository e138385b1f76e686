"""Writes the tables of docs/results/kernel-code.md: loops measured on phones, and these loops here.

    python -m benchmarks.kernel_rows --write

Needs clang-19 and llvm-19. The loops are our own source of the same operations: those of TVM are
compiled without unrolling, as its compiler leaves them, those of nntrainer with the unrolling that
its source or listing states.
"""

import csv
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hexsim
from benchmarks.kernel_code_page import COMPILE
from benchmarks.pages import RESULTS, print_or_write, with_block
from hexsim.deployment.platform import Platform
from hexsim.results.kernel import KernelLoop
from hexsim.studies.kernel_threads import Core
from hexsim.texts.figures import figure

PAGE = RESULTS / "kernel-code.md"
MEASURED = Path(__file__).with_name("measured")
CHIP = "sd8gen1"
ATTENTION_CHIP = "sd8gen4"
_STARTING_US = 2.0
"""What four threads take to start and to join, from the rows of 128 vectors."""


@dataclass(frozen=True)
class Row:
    """A measured loop: `us` on a phone."""

    operation: str
    vectors: int
    threads: int
    us: float


def rows() -> Iterator[Row]:
    """Yield the measured rows."""
    with (MEASURED / "hvx_kernels.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield Row(row["operation"], int(row["vectors"]), int(row["threads"]), float(row["us"]))


def core() -> Core:
    """Return the core of the phone."""
    return Core.of(Platform.load(CHIP))


def loops(name: str, *options: str, chip: str) -> dict[str, KernelLoop]:
    """Return the compiled loops of a source by their functions, of each the longest."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "loops.o")
        source = str(MEASURED / f"{name}.c")
        subprocess.run([*COMPILE, *options, "-c", source, "-o", str(made)], check=True)
        loops = sorted(hexsim.kernel(made, chip=chip).loops, key=lambda loop: loop.packets_issued)
        return {loop.function: loop for loop in loops}


def vector_loops() -> dict[str, KernelLoop]:
    """Return the loops over vectors."""
    return loops("vector_loops", "-mv69", "-mhvx=v69", chip=CHIP)


def predicted(row: Row, loop: KernelLoop, core: Core) -> tuple[float, str]:
    """Return the microseconds of a row, and what most of them are."""
    rate = loop.threads[row.threads - 1]
    clocks, part = rate.clocks, "packets"
    if rate.l2_clocks > clocks:
        clocks, part = rate.l2_clocks, "L2 port"
    moved = loop.load_bytes + loop.store_bytes
    if moved * row.vectors > core.l2_bytes:
        clocks, part = rate.ddr_clocks, "DDR"
    us = clocks * row.vectors / row.threads / core.rule.clock_hz * 1e6
    if row.threads > 1:
        part = "starting threads" if us < _STARTING_US else part
        us += _STARTING_US
    return us, part


def table() -> str:
    """Return the table of all rows."""
    of_chip, compiled = core(), vector_loops()
    lines = [
        "| operation | vectors | threads | measured us | here us | here / measured | most of it |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for row in rows():
        us, part = predicted(row, compiled[row.operation], of_chip)
        cells = (row.operation, row.vectors, row.threads, figure(row.us), figure(us))
        lines.append(f"| {' | '.join(map(str, cells))} | {us / row.us:.2f} | {part} |")
    return "\n".join(lines)


def attention_table() -> str:
    """Return the table of loops of attention: clocks of all threads for a multiply-add."""
    options = ("-mhvx-qfloat", "-mhvx-ieee-fp")
    compiled = loops("attention_loops", *options, chip=ATTENTION_CHIP)
    lines = ["| loop | threads | measured clocks | here | here / measured | most of it |"]
    lines.append("|---|---|---|---|---|---|")
    with (MEASURED / "attention_loops.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            loop, threads = compiled[row["operation"]], int(row["threads"])
            rate, measured = loop.threads[threads - 1], float(row["clocks"])
            here = rate.l2_clocks / threads / int(row["per_iteration"])
            part = "L2 port" if rate.l2_clocks > rate.clocks else "packets"
            cells = (row["operation"], threads, figure(measured), figure(here))
            lines.append(f"| {' | '.join(map(str, cells))} | {here / measured:.2f} | {part} |")
    return "\n".join(lines)


def page() -> str:
    """Return the page with its tables."""
    text = with_block(PAGE.read_text(encoding="utf-8"), "rows", table())
    return with_block(text, "attention", attention_table())


if __name__ == "__main__":
    print_or_write(PAGE, page, lambda: f"{table()}\n{attention_table()}")
