"""How long quantising takes, beside onnxruntime's `quantize_static` on the same model and inputs.

python -m benchmarks.quantize_speed [--network mobilenet_v2] [--inputs 50] [--rounds 5]

Timed is the way from an ONNX file on disk to a quantised file on disk, with the inputs in memory.
onnxruntime gets its model preprocessed (batch norms folded, shapes inferred) beforehand, and that
is not timed; its 8-bit unsigned activations and weights are the nearest to the default mode. The
two take turns within each round, so that both see the same machine. Of the histogram methods of
onnxruntime the entropy search is the costliest and percentile the cheapest; both stand beside the
enhanced mode, which keeps histograms too.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quant_pre_process,
    quantize_static,
)

import hexsim
from hexsim import dlc, models
from hexsim.dlc import Metadata
from hexsim.inputs.seeded import seeded_inputs
from hexsim.quantization.model import require_float
from hexsim.quantization.options import QuantizationOptions

Feed = Mapping[str, npt.NDArray[np.float32]]

PAIRS = {
    "minmax": (QuantizationOptions(), CalibrationMethod.MinMax),
    "percentile": (QuantizationOptions(enhanced="activations"), CalibrationMethod.Percentile),
    "entropy": (QuantizationOptions(enhanced="activations"), CalibrationMethod.Entropy),
}
"""Our mode and theirs, by the name of theirs."""


class Reader(CalibrationDataReader):  # type: ignore[misc]
    """onnxruntime's way to be handed one input after the other."""

    def __init__(self, feeds: list[Feed]) -> None:
        self._feeds: Iterator[Feed] = iter(feeds)

    def get_next(self) -> Any:
        return next(self._feeds, None)


def ours(model: Path, target: Path, feeds: list[Feed], options: QuantizationOptions) -> None:
    quantized = hexsim.quantize(hexsim.load(model), feeds, options)
    dlc.write(target, quantized, Metadata())


def theirs(model: Path, target: Path, feeds: list[Feed], method: CalibrationMethod) -> None:
    with contextlib.redirect_stdout(io.StringIO()):  # it prints how it calibrates
        quantize_static(
            model,
            target,
            Reader(feeds),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QUInt8,
            calibrate_method=method,
        )


def seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(network: str, inputs: int, rounds: int, method: str, folder: Path) -> str:
    """Return one line: median seconds of both, and the ratio's spread over the rounds."""
    plain, prepared = folder / f"{network}.onnx", folder / f"{network}_prepared.onnx"
    if not prepared.exists():
        models.export(network, plain)
        quant_pre_process(plain, prepared, skip_symbolic_shape=True)
    float_network = require_float(hexsim.load(plain))
    shapes = {name: float_network.tensors[name].source_shape for name in float_network.inputs}
    feeds: list[Feed] = list(seeded_inputs(shapes, inputs))
    options, calibration = PAIRS[method]
    pairs = [
        (
            seconds(lambda: ours(plain, folder / "ours.dlc", feeds, options)),
            seconds(lambda: theirs(prepared, folder / "theirs.onnx", feeds, calibration)),
        )
        for _ in range(rounds)
    ]
    our_s, their_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = sorted(mine / other for mine, other in pairs)
    return (
        f"{network:<16} {inputs:>6} {method:<11} {our_s:>8.2f} {their_s:>14.2f}   "
        f"{ratios[0]:.2f} / {statistics.median(ratios):.2f} / {ratios[-1]:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="mobilenet_v2")
    parser.add_argument("--inputs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", choices=PAIRS, default=list(PAIRS))
    given = parser.parse_args()
    logging.getLogger().setLevel(logging.ERROR)  # onnxruntime's advice on preprocessing
    print("network          inputs theirs is     ours s  onnxruntime s   ratio min / median / max")
    with tempfile.TemporaryDirectory() as folder:
        for method in given.methods:
            line = compare(given.network, given.inputs, given.rounds, method, Path(folder))
            print(line, flush=True)


if __name__ == "__main__":
    main()
