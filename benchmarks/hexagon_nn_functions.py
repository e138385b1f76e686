"""Writes the table of functions of Hexagon NN of docs/results/kernel-code.md.

    python -m benchmarks.hexagon_nn_functions CHECKOUT [--write]

CHECKOUT is a folder with the public release of Hexagon NN (commit df7ad3c), of which nothing is in
this repository. Its assembly is assembled by clang-19, and `hexsim.kernel` counts packets: of a
call under qemu-hexagon, where that knows the instructions, otherwise by the trips of the loops. The
calls of each layer, in measured/hexagon_nn_calls.csv, follow from the shapes and from how the
release divides rows and slices of weights. The packets beside them were counted while whole layers
ran (tests/hexagon_nn/packets).
"""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import hexsim
from benchmarks.packets import FOLDER
from benchmarks.pages import RESULTS, with_block
from hexsim.files.atomic_write import write_text

PAGE = RESULTS / "kernel-code.md"
MEASURED = Path(__file__).with_name("measured")
CHIPS = {"60": "sd820", "65": "sd845", "66": "sd855"}
LABELS = {
    "maxpool_slice_hvx_3x3_stride2": (".wait_l2fetch", "maxpool_slice_hvx_3x3_stride2"),
    "maxpool_slice_hvx_2x2_stride2": (".maxpool2x2s2_d32_rowloop", ".maxpool2x2s2_d32_outloop"),
    "do_bilin_interp_x2_single_slice_HVX": (".lpx", ".lpx_end", ".lpy"),
}
"""Labels inside functions under which their packets were counted."""


@dataclass(frozen=True)
class Call:
    """A call of a function, as often as a layer makes it; with trips instead of arguments, if QEMU
    does not know its instructions."""

    versions: tuple[str, ...]
    layer: str
    function: str
    file: str
    times: int
    is_run: bool
    arguments: tuple[str, ...]


def calls() -> Iterator[Call]:
    """Yield the calls of all layers."""
    with (MEASURED / "hexagon_nn_calls.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield Call(
                tuple(row["versions"].split()),
                row["layer"],
                row["function"],
                row["file"],
                int(row["times"]),
                row["door"] == "run",
                tuple(row["arguments"].split()),
            )


def counted(version: str) -> dict[tuple[str, str], int]:
    """Return the packets that were counted, by layer and function or label."""
    packets = {}
    with (FOLDER / f"packets_V{version}.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for item in row["library_packets_by_function"].split():
                name, _, count = item.rpartition("=")
                packets[row["layer"], name] = int(count)
    return packets


@dataclass(frozen=True)
class Build:
    """Where a checkout is, and the folder of its objects and programs."""

    checkout: Path
    folder: Path


@cache
def assembled(build: Build, version: str, file: str) -> Path:
    """Return the object of a file for a version."""
    made = build.folder / f"{file}-{version}.o"
    target = ("--target=hexagon", f"-mv{version}", f"-mhvx=v{version}", "-mhvx-length=128B")
    source = str(build.checkout / "hexagon" / "asm_src" / f"{file}.S")
    include = f"-I{build.checkout / 'hexagon' / 'include'}"
    options = (*target, f"-DHEXAGON_V{version}", include, "-c", source, "-o", str(made))
    subprocess.run(["clang-19", *options], check=True, stderr=subprocess.DEVNULL)
    return made


@cache
def linked(build: Build, version: str, file: str, function: str) -> Path:
    """Return a program that calls a function; data that it names are a buffer."""
    code = str(assembled(build, version, file))
    made, main = build.folder / f"{function}-{version}", build.folder / f"call-{version}.o"
    target = ("--target=hexagon-unknown-linux-musl", f"-mv{version}", "-ffreestanding")
    source = str(MEASURED / "call_function.c")
    compiling = ["clang-19", *target, "-O1", "-fno-pic", "-c", source, "-o", str(main)]
    subprocess.run(compiling, check=True)
    listing = ["llvm-nm-19", "-u", code]
    listed = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    data = [f"--defsym={line.split()[1]}=buffers" for line in listed.splitlines()]
    names = [f"--defsym=function={function}", *data]
    linking = ["ld.lld-19", "-static", *names, str(main), code, "-o", str(made)]
    subprocess.run(linking, check=True)
    return made


def cost(build: Build, version: str, call: Call) -> tuple[int, float]:
    """Return the packets and clocks of one call, by `hexsim.kernel`."""
    chip, function = CHIPS[version], call.function
    if call.is_run:
        program = linked(build, version, call.file, function)
        answer = hexsim.kernel(program, chip=chip, function=function, run=call.arguments)
    else:
        code = assembled(build, version, call.file)
        loops = hexsim.kernel(code, chip=chip, function=function).loops
        counts = map(int, call.arguments)
        trips = dict(zip((loop.name for loop in loops), counts, strict=True))
        answer = hexsim.kernel(code, chip=chip, function=function, trips=trips)
    (described,) = answer.functions
    return described.executed or 0, described.total_clocks or 0.0


@dataclass
class Row:
    """A function on a version, over all layers that call it."""

    layers: set[str] = field(default_factory=set)
    exact: int = 0
    counted: int = 0
    packets: int = 0
    clocks: float = 0.0
    is_run: bool = True

    @property
    def cells(self) -> tuple[str, ...]:
        """Its cells of the table after function and version."""
        stalls = self.clocks / 2 / self.packets - 1
        return (
            f"{len(self.layers)}",
            "run" if self.is_run else "trips",
            f"{self.counted}",
            f"{self.packets}",
            f"{self.packets / self.counted:.3f}",
            f"{self.exact}",
            f"{stalls:.1%}",
        )


def rows(build: Build) -> dict[str, dict[str, Row]]:
    """Return a row for each function and version."""
    by_function: dict[str, dict[str, Row]] = {}
    for version in CHIPS:
        known = counted(version)
        here: dict[tuple[str, str], int] = {}
        for call in calls():
            if version not in call.versions:
                continue
            row = by_function.setdefault(call.function, {}).setdefault(version, Row())
            packets, clocks = cost(build, version, call)
            key = (call.layer, call.function)
            here[key] = here.get(key, 0) + packets * call.times
            row.layers.add(call.layer)
            row.clocks += clocks * call.times
            row.is_run = call.is_run
        for (layer, function), packets in here.items():
            row = by_function[function][version]
            names = LABELS.get(function, (function,))
            expected = sum(known.get((layer, name), 0) for name in names)
            row.packets += packets
            row.counted += expected
            row.exact += packets == expected
    return by_function


def table(build: Build) -> str:
    """Return the table; versions with the same figures share a row."""
    lines = [
        "| function | version | layers | by | counted | here | here / counted | exact | stalls |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for function, versions in sorted(rows(build).items()):
        same: dict[tuple[str, ...], list[str]] = {}
        for version, row in versions.items():
            same.setdefault(row.cells, []).append(f"V{version}")
        for cells, names in same.items():
            lines.append(f"| {function} | {', '.join(names)} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as made:
        text = table(Build(Path(sys.argv[1]), Path(made)))
    if "--write" in sys.argv:
        write_text(PAGE, with_block(PAGE.read_text(encoding="utf-8"), "functions", text))
    else:
        print(text)
