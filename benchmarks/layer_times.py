"""Measured and simulated time of each layer of a network: docs/results/layer-times.md.

python -m benchmarks.layer_times FOLDER            prints the tables
python -m benchmarks.layer_times FOLDER --write    writes them into the page
python -m benchmarks.layer_times FOLDER --layers   prints every layer too

`--write` also keeps the factors of classes in hexsim/datasheets/measurements/layer_factors.csv,
which `hexsim profile` prints. The times of single operators are those of
`benchmarks.operator_times`, the forms of one product those of `benchmarks.product_forms`, and what
the profile does as a calibration is that of `benchmarks.profile_anchors`.

FOLDER has the networks of layer_latency.csv as ONNX files, yolov5s_640.onnx and so on, of which
only the structure counts; they are public, but not ours. A factor is the ratio of simulated and
measured time, or its reciprocal, whichever is larger.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import hexsim
from benchmarks import operator_times, product_forms, profile_anchors
from benchmarks.measured.layers import LayerRow, layer_rows
from benchmarks.pages import RESULTS, fenced, with_block
from hexsim.datasheets.measurements import FACTORS_FILE, LayerFactor
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.files.atomic_write import write_text
from hexsim.reports.text import table
from hexsim.runtimes import Runtime
from hexsim.texts.csv_text import csv_text

PAGE = RESULTS / "layer-times.md"
RUNTIMES: tuple[Runtime, ...] = ("dsp", "cpu", "gpu")
CLOSE = 1.3
"""Factor up to which a layer counts as close."""


@dataclass(frozen=True)
class ComparedLayer:
    """One layer on one runtime: its class, and its times in microseconds."""

    row: LayerRow
    layer_class: str
    measured_us: float
    simulated_us: float

    @property
    def ratio(self) -> float:
        """Simulated by measured time."""
        return self.simulated_us / self.measured_us

    @property
    def factor(self) -> float:
        """The ratio or its reciprocal, whichever is larger."""
        return max(self.ratio, 1 / self.ratio)


def compared(rows: Iterable[LayerRow], folder: Path, runtime: Runtime) -> list[ComparedLayer]:
    """Return the layers of one network, without its input; `rows` are of one network."""
    rows = [row for row in rows if row.index > 0]
    first = rows[0]
    model = hexsim.load(folder / f"{first.network}.onnx")
    deployment = Deployment(model, Platform.load(first.chip, first.stack), runtime)
    result = deployment.simulate(perf_profile=first.profile)
    layers = {layer.name: layer for layer in result.layers}
    return [
        ComparedLayer(row, layers[row.layer].layer_class, row.us[runtime], layers[row.layer].us)
        for row in rows
    ]


def by_class(layers: Sequence[ComparedLayer]) -> dict[str, list[ComparedLayer]]:
    """Return the layers of each class."""
    classes: dict[str, list[ComparedLayer]] = {}
    for layer in layers:
        classes.setdefault(layer.layer_class, []).append(layer)
    return classes


def factors(by_runtime: Mapping[str, Sequence[ComparedLayer]]) -> list[LayerFactor]:
    """Return the median factor of each class on each runtime."""
    return [
        LayerFactor(
            runtime, name, len(members), statistics.median(layer.factor for layer in members)
        )
        for runtime, layers in by_runtime.items()
        for name, members in by_class(layers).items()
    ]


def summary(layers: Sequence[ComparedLayer]) -> str:
    """Return a row per class of layer, and one for all."""
    classes = by_class(layers)
    classes["all"] = list(layers)
    header = ("class", "layers", "factor", "close", "measured us", "simulated us", "ratio")
    return table(header, [_row(name, members) for name, members in classes.items()])


def _row(name: str, layers: Sequence[ComparedLayer]) -> tuple[str, ...]:
    measured = sum(layer.measured_us for layer in layers)
    simulated = sum(layer.simulated_us for layer in layers)
    close = sum(layer.factor <= CLOSE for layer in layers) / len(layers)
    return (
        name,
        str(len(layers)),
        f"{statistics.median(layer.factor for layer in layers):.2f}",
        f"{close:.0%}",
        f"{measured:.0f}",
        f"{simulated:.0f}",
        f"{simulated / measured:.2f}",
    )


def listing(layers: Sequence[ComparedLayer]) -> str:
    """Return a row per layer."""
    header = ("layer", "class", "output", "measured us", "simulated us", "ratio")
    rows = []
    for layer in layers:
        shape = "x".join(map(str, layer.row.output_nchw))
        times = (f"{layer.measured_us:.0f}", f"{layer.simulated_us:.0f}", f"{layer.ratio:.2f}")
        rows.append((layer.row.layer, layer.layer_class, shape, *times))
    return table(header, rows, left=frozenset({0, 1, 2}))


def anchors(folder: Path) -> dict[str, str]:
    """Return the tables of the profile as a calibration, by the name of their block."""
    rows = [row for row in layer_rows() if row.index > 0]
    phone = profile_anchors.calibrated(rows, folder, RUNTIMES)
    return {
        "class factors": profile_anchors.factors(phone),
        "other networks": profile_anchors.other_networks(phone),
        "other layers": profile_anchors.other_layers(rows, folder),
    }


def page(by_runtime: Mapping[str, Sequence[ComparedLayer]], folder: Path) -> str:
    """Return the page with the tables of today."""
    text = PAGE.read_text(encoding="utf-8")
    for name, text_of_block in anchors(folder).items():
        text = with_block(text, name, fenced(text_of_block))
    for stack in product_forms.RELEASES:
        text = with_block(text, f"forms {stack}", fenced(product_forms.summary(stack)))
    for runtime, layers in by_runtime.items():
        text = with_block(text, runtime, fenced(summary(layers)))
    return with_block(text, "operators", fenced(operator_times.summary(operator_times.compared())))


def main(arguments: Sequence[str]) -> None:
    """Print the tables, or write them into the page."""
    folder = Path(next(text for text in arguments if not text.startswith("--")))
    networks = sorted({row.network for row in layer_rows()})
    by_runtime = {
        runtime: [
            layer
            for name in networks
            for layer in compared(
                [row for row in layer_rows() if row.network == name], folder, runtime
            )
        ]
        for runtime in RUNTIMES
    }
    if "--write" in arguments:
        write_text(PAGE, page(by_runtime, folder))
        rows = (
            (f.runtime, f.layer_class, f.layers, f"{f.factor:.2f}") for f in factors(by_runtime)
        )
        write_text(FACTORS_FILE, csv_text(("runtime", "class", "layers", "factor"), rows))
        return
    for runtime, layers in by_runtime.items():
        print(f"\n{runtime}\n{summary(layers)}")
        if "--layers" in arguments:
            print(listing(layers))
    print("\n\n".join(anchors(folder).values()))
    print(f"\noperators\n{operator_times.summary(operator_times.compared())}")


if __name__ == "__main__":
    main(sys.argv[1:])
