"""Packets of our kernel models beside those that Hexagon NN itself takes: the table of
docs/results/packets.md.

python -m benchmarks.packets             prints the table
python -m benchmarks.packets --write     puts it into the page

The packets of the library were counted by running its public release of the V60 to V66 era on an
emulator of Hexagon instructions (tests/hexagon_nn/packets). Work of the worker threads and work of
the main thread are compared apart. The main thread's part of the library includes the execution
of the node, which hexsim counts as `dispatch` of the runtime and not as packets of the layer.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from benchmarks.pages import RESULTS, ROOT, with_block
from hexsim.deployment.platform import Platform
from hexsim.files.atomic_write import write_text
from hexsim.hvx.kernels import Target, node_work
from hexsim.studies.kernel_probe import probe
from hexsim.studies.probes import kernel_call
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

PAGE = RESULTS / "packets.md"
FOLDER = ROOT / "tests" / "hexagon_nn" / "packets"
CHIPS = {"V60": "sd821", "V65": "sd845", "V66": "sd855"}
ASSEMBLY = 0.15
"""Band of layers that the library computes in assembly, and of sums and products."""
COMPILED = 0.30
"""Band of layers in C, whose packets depend on the compiler."""
_IN_ASSEMBLY = frozenset(
    ["conv", "depthwise", "fully_connected", "max_pool", "average_pool", "add", "multiply"]
)
DISPATCH = 1000
"""Packets of the main thread up to which they are those of executing a node."""


@dataclass(frozen=True)
class Row:
    """One layer on one architecture, and the packets that the library takes."""

    layer: str
    architecture: str
    vector_work: int
    main_thread: int

    @property
    def kind(self) -> str:
        """The kind of layer, as `hexsim kernel` names it."""
        return self.layer.split()[0]

    @property
    def layer_class(self) -> str:
        """The class under which the page counts a layer."""
        return "first layer" if self.kind == "conv" and "x3:" in self.layer else self.kind

    @property
    def band(self) -> float:
        """Largest deviation that is accepted."""
        return ASSEMBLY if self.kind in _IN_ASSEMBLY else COMPILED

    @cached_property
    def work(self) -> NodeWork:
        """What the kernel model makes of the layer."""
        kind, shape = self.layer.split()
        platform = Platform.load(CHIPS[self.architecture])
        if kind != "resize":
            return probe(kind, shape, platform).work
        call = kernel_call(kind, shape)  # of pixel centres, which the library's kernel lacks
        corners = replace(call, layer=call.layer.replace(coordinates="asymmetric"))
        return node_work(corners, Target.of(platform.chip, platform.stack), Traffic())

    @property
    def ratio(self) -> float:
        """Packets of hexsim over those of the library, work of the worker threads."""
        return self.work.packets / self.vector_work

    @property
    def main_ratio(self) -> float | None:
        """The same for the main thread; None if the library only executes a node there."""
        if self.main_thread <= DISPATCH:
            return None
        return self.work.main_packets / self.main_thread

    @property
    def is_within(self) -> bool:
        """Whether both are within the band."""
        ratios = (self.ratio, 1.0 if self.main_ratio is None else self.main_ratio)
        return all(abs(ratio - 1) <= self.band for ratio in ratios)


def rows(folder: Path = FOLDER) -> Iterator[Row]:
    """Yield every layer on every architecture."""
    for architecture in CHIPS:
        with (folder / f"packets_{architecture}.csv").open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                yield Row(
                    line["layer"],
                    architecture,
                    int(line["library_packets_vector_work"]),
                    int(line["library_packets_main_thread"]),
                )


def table() -> str:
    """Return a line per layer with the ratios of all architectures, then a summary by class."""
    compared = list(rows())
    by_layer: dict[str, list[Row]] = {}
    for row in compared:
        by_layer.setdefault(row.layer, []).append(row)
    lines = [
        "| layer | " + " | ".join(f"{name} hexsim / library" for name in CHIPS) + " | band |",
        "|---|" + "---|" * (len(CHIPS) + 1),
    ]
    for layer, same in by_layer.items():
        cells = " | ".join(map(_cell, same))
        lines.append(f"| {layer} | {cells} | {same[0].band:.0%} |")
    return "\n".join(lines) + "\n\n" + by_class(compared)


def _cell(row: Row) -> str:
    mark = "" if row.is_within else " !"
    main = ""
    if row.main_ratio is not None:
        main = f"; main thread {row.work.main_packets} / {row.main_thread} = {row.main_ratio:.2f}"
    return f"{row.work.packets} / {row.vector_work} = {row.ratio:.2f}{main}{mark}"


def by_class(compared: Iterable[Row]) -> str:
    """Return the median and the extremes of each class of layers."""
    classes: dict[str, list[Row]] = {}
    for row in compared:
        classes.setdefault(row.layer_class, []).append(row)
    lines = [
        "| class | rows | least | median | most | outside the band |",
        "|---|---|---|---|---|---|",
    ]
    for name, same in classes.items():
        ratios = [row.ratio for row in same]
        outside = sum(not row.is_within for row in same)
        lines.append(
            f"| {name} | {len(same)} | {min(ratios):.2f} | {statistics.median(ratios):.2f} "
            f"| {max(ratios):.2f} | {outside} |"
        )
    return "\n".join(lines) + "\n"


def page_with(text: str) -> str:
    """Return the page with `text` as its table."""
    return with_block(PAGE.read_text(encoding="utf-8"), "table", text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_text(PAGE, page_with(table()))
    else:
        print(table(), end="")
