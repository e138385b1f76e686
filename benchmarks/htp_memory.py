"""Memory of a process with a graph of the tensor processor, beside published peaks; and VTCM.

python -m benchmarks.htp_memory FOLDER            prints the tables
python -m benchmarks.htp_memory FOLDER --write    writes them into docs/results/htp.md

FOLDER is that of `benchmarks.htp_scoreboard`. The two constants, of a process and of a layer, are
fitted to the rows of two phones of which all networks are measured. Each network is left out of the
fit that predicts it. Rows of Linux and Windows are no use: there the process does not count the
graph. What other chips with Android take is predicted by the constants as stated. The second table
has simulated times of graphs that may use a part of VTCM, of which nobody has published any.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import hexsim
from benchmarks.measured.htp import htp_rows
from benchmarks.pages import RESULTS, with_blocks
from hexsim.datasheets import stacks
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.files.atomic_write import write_text
from hexsim.results.costs import Footprint

PAGE = RESULTS / "htp.md"
FITTED = ("sd8gen1", "sd8gen3")
OTHERS = ("qcm6690", "qcs8275", "sa8295p", "sa8775p", "sd7gen4", "sd8gen4", "sd8elitegen5")
VTCM_CHIP, PARTS_MB = "sd8gen3", (1, 2, 4, 8)
VTCM_NETWORKS = (
    "mobilenet_v2",
    "resnet50",
    "wideresnet50",
    "deeplabv3_plus_mobilenet",
    "unet_segmentation",
)
CONSTANTS = ("htp.process_bytes", "htp.memory_bytes_per_layer")
_MB = 1e6
_LIMIT, _ROUNDS, _STEP = 0.25, 60, 0.7
Floats = npt.NDArray[np.float64]
Columns = Callable[["Row"], Sequence[float]]


@dataclass(frozen=True)
class Row:
    """A published peak, and the memory that hexsim plans for the network."""

    network: str
    chip: str
    peak_mb: float
    memory: Footprint

    @property
    def known_mb(self) -> float:
        """The network and its buffers, to which nothing is fitted."""
        return self.memory.peak_bytes / _MB


def rows_of(folder: Path) -> list[Row]:
    """The rows of QNN on phones whose network has a file."""
    footprints: dict[tuple[str, str], Footprint] = {}
    rows = []
    for row in htp_rows():
        path = folder / f"{row.network}.onnx"
        if row.runtime != "qnn" or row.chip not in (*FITTED, *OTHERS) or not path.exists():
            continue
        key = row.network, row.precision
        if key not in footprints:
            runtime = "htp_fp16" if row.precision == "float" else "htp"
            deployment = Deployment(hexsim.load(path), Platform.load(FITTED[0]), runtime)
            footprints[key] = deployment.memory()
        rows.append(Row(row.network, row.chip, row.peak_memory_mb, footprints[key]))
    return rows


def fit(rows: Sequence[Row], columns: Columns, known: bool) -> Floats:
    """Constants of least squared logarithms of the errors; those beyond `_LIMIT` count less."""
    x = np.array([columns(row) for row in rows])
    peak = np.array([row.peak_mb for row in rows])
    base = np.array([row.known_mb if known else 0.0 for row in rows])
    constants: Floats = np.linalg.lstsq(x, peak - base, rcond=None)[0]
    for _ in range(_ROUNDS):
        predicted = np.maximum(x @ constants + base, 1.0)
        errors = np.log(predicted / peak)
        weight = np.sqrt(1.0 / np.maximum(1.0, np.abs(errors) / _LIMIT))
        slopes = x / predicted[:, None] * weight[:, None]
        constants = constants + _STEP * np.linalg.lstsq(slopes, -errors * weight, rcond=None)[0]
    return constants


def left_out(rows: Sequence[Row], columns: Columns, *, known: bool) -> list[float]:
    """The error of each row by constants that have not seen its network."""
    errors = []
    for name in sorted({row.network for row in rows}):
        constants = fit([row for row in rows if row.network != name], columns, known)
        for row in rows:
            if row.network == name:
                predicted = float(np.dot(columns(row), constants)) + row.known_mb * known
                errors.append(predicted / row.peak_mb - 1)
    return errors


def _layers(row: Row) -> Sequence[float]:
    return 1.0, float(len(row.memory.layers))


def _line(name: str, errors: Sequence[float], inside: str) -> str:
    sizes = np.abs(errors)
    figures = (float(np.median(sizes)), float(np.quantile(sizes, 0.9)), float(np.median(errors)))
    cells = " | ".join(f"{100 * figure:.0f} %" for figure in figures[:2])
    return f"| {name} | {len(errors)} | {cells} | {100 * figures[2]:+.0f} % | {inside} |"


def _inside(rows: Sequence[Row]) -> str:
    """How many rows lie between the bounds that hexsim states."""
    count = 0
    for row in rows:
        process = row.memory.process
        assert process is not None
        count += process.low <= row.peak_mb * _MB <= process.high
    return f"{count} of {len(rows)}"


def table(rows: Sequence[Row]) -> str:
    """The errors of simpler predictors, of the fit, and of the constants as they are stated."""
    fitted = [row for row in rows if row.chip in FITTED]
    others = [row for row in rows if row.chip in OTHERS]

    def stated(row: Row) -> float:
        return row.memory.process.value / _MB / row.peak_mb - 1 if row.memory.process else math.nan

    def weights(row: Row) -> Sequence[float]:
        return 1.0, row.memory.packed_bytes / _MB

    lines = [
        "| predictor | rows | median | 90th percentile | bias | inside the interval |",
        "|---" * 6 + "|",
        _line("one constant", left_out(fitted, lambda row: (1.0,), known=False), ""),
        _line(
            "weights times a factor, plus a constant", left_out(fitted, weights, known=False), ""
        ),
        _line("this model", left_out(fitted, _layers, known=True), _inside(fitted)),
        _line("this model, other chips", [stated(row) for row in others], _inside(others)),
    ]
    return "\n".join(lines)


def vtcm_table(folder: Path) -> str:
    """Simulated times with parts of VTCM, over those with all of it."""
    lines = [
        f"| network, w8a8 on {VTCM_CHIP} | " + " | ".join(f"{size} MB" for size in PARTS_MB) + " |",
        "|---" * (len(PARTS_MB) + 1) + "|",
    ]
    for name in VTCM_NETWORKS:
        model, whole = hexsim.load(folder / f"{name}.onnx"), Platform.load(VTCM_CHIP)
        platforms = [whole.with_vtcm(size) for size in PARTS_MB]
        times_us = [
            Deployment(model, platform, "htp").simulate().total_us for platform in platforms
        ]
        shown = " | ".join(f"x {time_us / times_us[-1]:.2f}" for time_us in times_us[:-1])
        lines.append(f"| {name} | {shown} | {times_us[-1] / 1e3:.2f} ms |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, or write it."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path()
    if not any(folder.glob("*.onnx")):
        raise SystemExit("give the folder with the networks of the rows")
    rows = rows_of(folder)
    if "--write" in sys.argv:
        blocks = {"memory": table(rows), "vtcm": vtcm_table(folder)}
        write_text(PAGE, with_blocks(PAGE.read_text(encoding="utf-8"), blocks))
        return
    fitted = fit([row for row in rows if row.chip in FITTED], _layers, known=True) * _MB
    stated = dict(stacks.load("qnn-2.43").quantities())
    for name, value in zip(CONSTANTS, fitted, strict=True):
        print(f"{name}: {value:.3g} fitted, {stated[name].value:.3g} stated")
    print(table(rows))
    print(vtcm_table(folder))


if __name__ == "__main__":
    main()
