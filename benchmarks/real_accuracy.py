"""Answers of trained networks: the tables of docs/results/accuracy.md, and one of benchmark.md.

HEXSIM_REAL_DATA=FOLDER python -m benchmarks.real_accuracy [--chip sd835] [--write]

Each network is quantised in each mode and run on the DSP of the chip, in float beside it. One
table counts answers that are right (of those whose right answer is known) and winners that are
those of the float network; the other has the SQNR in dB of the class scores, or of the output of a
network that does not classify. A third table counts the right answers on every runtime of the
chip, in the default mode; it is in benchmark.md, beside what a published benchmark says of others.
`--write` puts all into the pages.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.pages import RESULTS, with_block
from benchmarks.real_networks import Labels, RealNetwork, real_networks
from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.scores import class_scores
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import FloatArray
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import FIXED_POINT

PAGE = RESULTS / "accuracy.md"

MODES = {
    "default": QuantizationOptions(),
    "enhanced": QuantizationOptions(enhanced="both"),
    "adjusted weights": QuantizationOptions(adjusted_weights=True),
    "symmetric": QuantizationOptions(symmetric_weights=True),
    "per channel": QuantizationOptions(axis_weights=True),
    "per channel, enhanced": QuantizationOptions(axis_weights=True, enhanced="both"),
    "per channel, 32-bit biases": QuantizationOptions(axis_weights=True, bias_bits=32),
    "4-bit weights": QuantizationOptions(weight_bits=4),
    "4-bit weights, per channel": QuantizationOptions(weight_bits=4, axis_weights=True),
}


@dataclass(frozen=True)
class Row:
    """One network in one mode; the counts are empty for a network that does not classify."""

    right: str
    same: str
    sqnr_db: float


def measure(real: RealNetwork, chip: str) -> dict[str, Row]:
    """Return what each mode does to `real` on the DSP of `chip`; float first."""
    network = class_scores(real.network)
    (output,) = network.outputs
    engine = FloatEngine(network)
    floats = np.stack([engine.run(feed)[output].ravel() for feed in real.inputs])
    rows = {"float": _row(floats, floats, real.labels)}
    platform = Platform.load(chip)
    for mode, options in MODES.items():
        model = quantize(network, real.calibration, options)
        executor = Deployment(model, platform, "dsp").executor()
        codes = np.stack([executor.run(feed)[output].ravel() for feed in real.inputs])
        rows[mode] = _row(floats, codes, real.labels)
    return rows


def _row(floats: FloatArray, others: FloatArray, labels: Labels) -> Row:
    if not labels:
        return Row("", "", Distance.between(floats, others).sqnr_db)
    winners, expected = np.argmax(others, axis=-1), np.argmax(floats, axis=-1)
    known = [(winner, label) for winner, label in zip(winners, labels, strict=True) if label]
    right = sum(int(winner) in label for winner, label in known)
    return Row(
        _counted(right, len(known)),
        _counted(int(np.sum(winners == expected)), len(winners)),
        Distance.between(floats, others).sqnr_db,
    )


def _counted(count: int, of: int) -> str:
    """A count of few, the percentage of many."""
    return f"{count} of {of}" if of < 100 else f"{100 * count / of:.2f} %"


def on_runtimes(networks: Sequence[RealNetwork], chip: str) -> str:
    """Return a table of the right answers of each network on each runtime."""
    platform = Platform.load(chip)
    judged = [real for real in networks if real.labels]
    columns = [_right_on_runtimes(real, platform) for real in judged]
    rows = [[runtime, *(column[runtime] for column in columns)] for runtime in platform.runtimes]
    return _markdown(["right answers", *(real.name for real in judged)], rows)


def _right_on_runtimes(real: RealNetwork, platform: Platform) -> dict[str, str]:
    network = class_scores(real.network)
    (output,) = network.outputs
    codes, answers = quantize(network, real.calibration), dict[str, str]()
    for runtime in platform.runtimes:
        model = codes if runtime in FIXED_POINT else Model(network)
        runs = Deployment(model, platform, runtime).executor().run_each(real.inputs)
        scores = np.stack([values[output].ravel() for values in runs])
        answers[runtime] = _row(scores, scores, real.labels).right
    return answers


def tables(networks: Sequence[RealNetwork], chip: str) -> str:
    """Return both tables in Markdown."""
    measured = {real.name: measure(real, chip) for real in networks}
    judged = {name: rows for name, rows in measured.items() if rows["float"].right}
    counts = [
        [mode, *(f"{rows[mode].right}, {rows[mode].same}" for rows in judged.values())]
        for mode in ("float", *MODES)
    ]
    noise = [[mode, *(f"{rows[mode].sqnr_db:.1f}" for rows in measured.values())] for mode in MODES]
    return (
        f"Right, and same winner as float ({chip}, dsp):\n\n"
        + _markdown(["mode", *judged], counts)
        + f"\nSQNR in dB ({chip}, dsp):\n\n"
        + _markdown(["mode", *measured], noise)
    )


def _markdown(heading: list[str], rows: list[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page_with(text: str, page: Path = PAGE) -> str:
    """Return the page with `text` between its marks."""
    return with_block(page.read_text(encoding="utf-8"), "trained networks", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", default="sd835")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if "HEXSIM_REAL_DATA" not in os.environ:
        parser.error("set HEXSIM_REAL_DATA to the folder of the trained networks")
    networks = real_networks(Path(os.environ["HEXSIM_REAL_DATA"]))
    for page, text in (
        (PAGE, tables(networks, given.chip)),
        (RESULTS / "benchmark.md", on_runtimes(networks, given.chip)),
    ):
        if given.write:
            page.write_text(page_with(text, page), encoding="utf-8")
        else:
            print(text)


if __name__ == "__main__":
    main()
