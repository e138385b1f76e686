"""What a profile of one network, as calibration points, does to other times: layer-times.md.

`python -m benchmarks.layer_times FOLDER` prints the tables with those of layers. The profile is
that of layer_latency.csv, with a factor for each class of layers. It is tried on the other networks
of the chip in measured_latency.csv, which ran under other releases, and within the network: the
factors of one part of its layers predict the sum of the others.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

import hexsim
from benchmarks.measured.layers import LayerRow
from hexsim.datasheets.measurements import rows as latency_rows
from hexsim.deployment import Deployment
from hexsim.deployment.calibrated import with_profile
from hexsim.deployment.calibration import CalibrationProfile
from hexsim.deployment.phone_profile.profile import MeasuredLayer, MeasuredRun, PhoneProfile
from hexsim.deployment.platform import Platform
from hexsim.reports.text import table
from hexsim.runtimes import Runtime
from hexsim.studies.calibration.prediction import Predictions

RUNTIMES: tuple[Runtime, ...] = ("dsp", "cpu", "gpu")


def calibrated(rows: Sequence[LayerRow], folder: Path, runtimes: Iterable[Runtime]) -> Platform:
    """The platform of the rows, with the factors that they give."""
    first = rows[0]
    runs = tuple(
        MeasuredRun(name, tuple(MeasuredLayer(row.layer, row.us[name]) for row in rows))
        for name in runtimes
    )
    profile = PhoneProfile("layer_latency.csv", runs, first.profile)
    anchor = CalibrationProfile(str(folder / f"{first.network}.onnx"), "layer_latency.csv")
    return with_profile(Platform.load(first.chip, first.stack), anchor, profile)


def factors(phone: Platform) -> str:
    """The factor of each class on each runtime."""
    assert isinstance(phone.anchor, CalibrationProfile)
    header = ("runtime, class", "layers", "ratio", "weight", "factor", "off by", "layers differ by")
    return table(
        header,
        [
            (
                f"{factor.runtime} {factor.layer_class}",
                str(factor.layers),
                f"{factor.ratio:.2f}",
                f"{factor.weight:.2f}",
                f"{factor.factor:.2f}",
                f"{factor.error:.0%}",
                f"{factor.spread:.0%}",
            )
            for factor in phone.anchor.classes
        ],
    )


def other_networks(phone: Platform) -> str:
    """Errors of the chip's other rows, as simulated and with the factors, and their medians."""
    assert isinstance(phone.anchor, CalibrationProfile)
    anchor = phone.anchor

    def scaled(chip: str, stack: str) -> Platform:
        return Platform.load(chip, stack).with_layer_factors(anchor)

    plain, with_factors = Predictions(), Predictions(scaled)
    lines, before, after = [], [], []
    for row in latency_rows():
        if row.chip != phone.chip.name or row.runtime not in RUNTIMES:
            continue
        errors = [each.ms(row, {}) / row.latency_ms - 1 for each in (plain, with_factors)]
        before.append(abs(errors[0]))
        after.append(abs(errors[1]))
        shape = "x".join(map(str, row.input_nhwc))
        name = f"{row.model} {shape}, {row.runtime}, {row.stack}"
        lines.append((name, f"{row.latency_ms:g}", *(f"{error:+.0%}" for error in errors)))
    medians = (f"{statistics.median(errors):.1%}" for errors in (before, after))
    lines.append(("median of the sizes", "", *medians))
    return table(("network", "measured ms", "as simulated", "with the factors"), lines)


def other_layers(rows: Sequence[LayerRow], folder: Path) -> str:
    """Errors of the sum of some layers, as simulated and with the factors of the others."""
    half = len(rows) // 2
    parts = {
        "the first half": rows[:half],
        "the second half": rows[half:],
        "every other one, from the first": rows[::2],
        "every other one, from the second": rows[1::2],
    }
    lines = []
    for runtime in RUNTIMES:
        for name, part in parts.items():
            others = [row for row in rows if row not in part]
            phone = calibrated(part, folder, [runtime])
            plain = Platform.load(phone.chip.name, phone.stack.name)
            errors = [_sum_us(each, others, folder, runtime) for each in (plain, phone)]
            measured = sum(row.us[runtime] for row in others)
            shown = (f"{us / measured - 1:+.0%}" for us in errors)
            lines.append((f"{runtime}: {name}", *shown))
    return table(("factors from", "the rest as simulated", "with the factors"), lines)


def _sum_us(platform: Platform, rows: Sequence[LayerRow], folder: Path, runtime: Runtime) -> float:
    model = hexsim.load(folder / f"{rows[0].network}.onnx")
    timing = Deployment(model, platform, runtime).simulate(perf_profile=rows[0].profile)
    names = {row.layer for row in rows}
    return sum(layer.us for layer in timing.layers if layer.name in names)
