"""One network, quantised on pictures, on three chips: the time of each layer, and a plot of all.

    python examples/three_chips.py [MODEL FOLDER]

MODEL is an ONNX file, FOLDER has pictures to calibrate with; by default those of examples/digits.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import hexsim

CHIPS = ("sd835", "sd855", "sd865")
HERE = Path(__file__).parent / "digits"


def main(model: str, folder: str) -> None:
    """Print the longest layers on each chip, and write layers.png if matplotlib is installed."""
    network = hexsim.load(model).network
    _, height, width, _ = network.shape(network.inputs[0])
    pictures = [
        np.asarray(Image.open(file).convert("L").resize((width, height)), np.float32)[None, None]
        / 255
        for file in sorted(Path(folder).iterdir())
    ]  # one channel, 0 .. 1, as the network was trained
    answer = hexsim.benchmark(model, chips=CHIPS, runtime="dsp", inputs=pictures)
    for result in answer.results:
        decibels = result.accuracy.sqnr_db if result.accuracy else None
        print(f"{result.chip}: {result.total_ms:.3f} ms, {decibels or 0:.1f} dB")
        for layer in result.slowest(3):
            print(f"  {layer.us:8.1f} us  {layer.name} ({layer.type}), bound by {layer.bound}")
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    for result in answer.results:
        layers = sorted(result.layers, key=lambda layer: -layer.us)
        pyplot.plot([layer.us for layer in layers], label=f"{result.chip}")
    pyplot.legend()
    pyplot.savefig("layers.png")


if __name__ == "__main__":
    given = sys.argv[1:] or [str(HERE / "digits.onnx"), str(HERE / "calibration")]
    main(given[0], given[1])
