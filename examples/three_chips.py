"""One network, quantised on pictures, on three chips: the layers sorted by time, and a plot of all.

    python examples/three_chips.py [MODEL FOLDER]

MODEL is an ONNX file, FOLDER has pictures to calibrate with; by default those of examples/digits.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from PIL import Image

import hexsim

DIGITS = Path(__file__).parent / "digits"


def main(model: str, folder: str) -> None:
    """Print the longest layers on each chip, and write the times of all to layers.png."""
    network = hexsim.load(model)
    pictures = [
        np.asarray(Image.open(file).convert("L").resize((8, 8)), np.float32)[None, None] / 255
        for file in sorted(Path(folder).iterdir())
    ]  # one channel, 0 .. 1, as the network was trained
    quantized = hexsim.quantize(network, pictures)
    for chip in ("sd835", "sd855", "sd865"):
        result = hexsim.simulate(quantized, chip, "dsp")
        layers = sorted(result.layers, key=lambda layer: layer.us, reverse=True)
        print(f"{chip}: {result.total_us / 1000:.3f} ms")
        for layer in layers[:3]:
            print(f"  {layer.us:8.1f} us  {layer.name} ({layer.type}), bound by {layer.bound}")
        pyplot.plot([layer.us for layer in layers], label=chip)
    pyplot.legend()
    pyplot.savefig("layers.png")


if __name__ == "__main__":
    words = sys.argv[1:] or [str(DIGITS / "digits.onnx"), str(DIGITS / "calibration")]
    main(words[0], words[1])
