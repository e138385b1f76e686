"""A small classifier as an ONNX file, inputs of it, and candidates that nobody computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from hexsim.results.decision import Choice, Cut
from hexsim.runtimes import Runtime
from hexsim.studies.decision import MODES
from tests.conftest import make_model

CLASSES = 6
ITEMS = 4


def write_files(folder: Path, seed: int = 5) -> None:
    """m.onnx, the raw inputs of list.txt, and labels.txt."""
    rng = np.random.default_rng(seed)
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c0"], ["r0"], "relu0"),
        helper.make_node("Conv", ["r0", "w1", "b1"], ["c1"], "second", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Flatten", ["r1"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "wf", "bf"], ["y"], "last", transB=1),
    ]
    wide = rng.normal(0.0, 0.2, (8, 3, 3, 3))
    wide[2] *= 20.0  # what weights per channel are for
    weights = {
        "w0": wide,
        "b0": rng.normal(0.0, 0.1, 8),
        "w1": rng.normal(0.0, 0.2, (8, 8, 3, 3)),
        "b1": rng.normal(0.0, 0.1, 8),
        "wf": rng.normal(0.0, 0.1, (CLASSES, 8 * 8 * 8)),
        "bf": rng.normal(0.0, 0.1, CLASSES),
    }
    onnx.save(make_model(nodes, {"x": [1, 3, 8, 8]}, ["y"], weights), folder / "m.onnx")
    for index in range(ITEMS):
        rng.standard_normal((1, 3, 8, 8), np.float32).tofile(folder / f"{index}.raw")
    (folder / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(ITEMS)))
    (folder / "labels.txt").write_text("".join(f"{index % CLASSES}\n" for index in range(ITEMS)))


def candidate(
    us: float = 1000.0,
    *,
    mode: int = 1,
    chip: str = "sd855",
    runtime: Runtime = "dsp",
    cut: Cut = "",
    peak_bytes: int = 2**20,
    same: int = 10,
    sqnr_db: float | None = 30.0,
    loss: float | None = 0.0,
) -> Choice:
    """One that counts on ten inputs."""
    return Choice(
        mode=MODES[mode].name,
        quantizer_words=MODES[mode].words,
        order=mode,
        chip=chip,
        stack="snpe-1.30",
        runtime=runtime,
        cut=cut,
        total_inference_us=us,
        expected_us=us,
        forward_propagate_us=0.9 * us,
        initialisation_us=5000.0,
        parameter_bytes=1000,
        peak_bytes=peak_bytes,
        energy_mj=us / 1e3,
        energy_low_mj=us / 2e3,
        energy_high_mj=us / 500,
        inputs=10,
        same_top1=same,
        loss_points=loss,
        sqnr_db=sqnr_db,
    )
