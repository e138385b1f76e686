"""Which layer of a quantised network loses the answers, and what mends it.

python examples/find_what_hurts.py

The network of the tutorial has one channel whose weights are far larger than all others. Quantised
as it is, it errs. The program follows the error from layer to layer, then tries three remedies.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

import hexsim

DIGITS = Path(__file__).parent / "digits"
REMEDIES: Mapping[str, Mapping[str, object]] = {
    "as it is": {},
    "32-bit biases": {"options": hexsim.QuantizationOptions(bias_bits=32)},
    "weights per channel": {"options": hexsim.QuantizationOptions(axis_weights=True)},
    "equalised": {"optimizations": ["cle"]},
}

Array = npt.NDArray[np.float32]


def photos(folder: str) -> list[Array]:
    """The pictures of a folder as the network wants them: 8 x 8, from 0 to 1."""
    pictures = (Image.open(file) for file in sorted((DIGITS / folder).glob("*.png")))
    small = (np.asarray(picture.resize((8, 8), Image.Resampling.BILINEAR)) for picture in pictures)
    return [(picture[None, None] / 255).astype(np.float32) for picture in small]


def decibels(signal: Array, noisy: Array) -> float:
    """The ratio of signal to noise."""
    return float(10 * np.log10(np.square(signal).sum() / np.square(noisy - signal).sum()))


def main() -> None:
    """Print the error of each layer, then of each remedy."""
    model = hexsim.load(DIGITS / "digits.onnx")
    calibration, shown = photos("calibration"), photos("photos")
    lines = (DIGITS / "named.txt").read_text(encoding="utf-8").splitlines()
    right = [int(line.split()[1]) for line in lines]
    tensors = [layer.outputs[0] for layer in model.network.layers]

    def answers(which: hexsim.Model, runtime: str) -> dict[str, Array]:
        batches = [*hexsim.run(which, shown, "sd855", runtime, output_tensors=tensors)]
        return {name: np.concatenate([outputs[name] for outputs in batches]) for name in tensors}

    exact = answers(model, "cpu")
    print("layer           SQNR dB")
    rounded = answers(hexsim.quantize(model, calibration), "dsp")
    for layer, name in zip(model.network.layers, tensors, strict=True):
        print(f"{layer.name:12} {decibels(exact[name], rounded[name]):10.1f}")

    print("\nremedy               SQNR dB   right")
    for remedy, how in REMEDIES.items():
        scores = answers(hexsim.quantize(model, calibration, **how), "dsp")[tensors[-1]]
        hits = np.count_nonzero(scores.argmax(1) == right)
        print(f"{remedy:20} {decibels(exact[tensors[-1]], scores):7.1f} {hits:4}/{len(right)}")


if __name__ == "__main__":
    main()
