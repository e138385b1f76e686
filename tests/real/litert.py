"""The TFLite interpreter in an environment of its own, made for the test run and thrown away."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from tests.real.tflite_file import outputs, with_output

WORKER = Path(__file__).with_name("litert_codes.py")
Kernels = Literal["default", "reference"]


class Litert:
    """Runs .tflite files in `folder`; skips the test where the interpreter cannot be installed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._python = folder / "venv" / "bin" / "python"
        for command in (
            [sys.executable, "-m", "venv", str(folder / "venv")],
            [str(self._python), "-m", "pip", "install", "-q", "ai-edge-litert"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                pytest.skip(f"ai-edge-litert cannot be installed: {reason}")

    def codes(self, model: Path, images: np.ndarray, kernels: Kernels) -> dict[int, np.ndarray]:
        """The codes of every operator's output by tensor index, stacked over `images` (u8).

        An interpreter keeps only the outputs of a model when kernels are fused, so the model is
        run once with each tensor as its output.
        """
        copies = []
        for index in outputs(model):
            copies.append(self._folder / f"{index}.tflite")
            copies[-1].write_bytes(with_output(model, index))
        pixels, answers = self._folder / "images.npy", self._folder / "answers.npz"
        np.save(pixels, images)
        subprocess.run(
            [self._python, WORKER, kernels, pixels, answers, *copies],
            check=True,
            capture_output=True,
        )
        with np.load(answers) as read:
            return {int(name): read[name] for name in read.files}
