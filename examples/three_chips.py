"""One network, quantised on pictures, on three chips: the layers sorted by time, and a plot of all.

    python examples/three_chips.py [MODEL FOLDER]

MODEL is an ONNX file, FOLDER has pictures to calibrate with; by default those of examples/digits.
"""

import sys
from pathlib import Path

from matplotlib import pyplot

import hexsim

DIGITS = Path(__file__).parent / "digits"


def main(model: str, folder: str) -> None:
    """Print the longest layers on each chip, and write the times of all to layers.png."""
    # 0 .. 1, as the network was trained
    quantized = hexsim.quantize(hexsim.load(model), hexsim.pictures(folder, std=255))
    for chip in ("sd835", "sd855", "sd865"):
        result = hexsim.simulate(quantized, chip, "dsp")
        print(f"{chip}: {result.total_ms:.3f} ms")
        for layer in result.slowest(3):
            print(f"  {layer.us:8.1f} us  {layer.name} ({layer.type}), bound by {layer.bound}")
        pyplot.plot([layer.us for layer in result.slowest(len(result.layers))], label=chip)
    pyplot.legend()
    pyplot.savefig("layers.png")


if __name__ == "__main__":
    words = sys.argv[1:] or [str(DIGITS / "digits.onnx"), str(DIGITS / "calibration")]
    main(words[0], words[1])
