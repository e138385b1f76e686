"""The folder examples/digits, with which docs/tutorial.md begins.

python -m tests.digits.example --write

- `digits.onnx`: the network with ReLU that was trained from the first seed. One channel of its
  second block is a hundred times smaller and the depthwise filter behind it as much larger, which
  leaves its answers in floats as they were. Trained networks come like that; see
  docs/concepts/equalisation.md.
- `photos`, `calibration`: pictures of digits that it was not trained on, eight times enlarged.
- `named.txt`, `digits.txt`: what is on each photo, and the names of the classes.

The page shows the first photos side by side, docs/images/digits.png.

The pictures are of the "Optical Recognition of Handwritten Digits" of E. Alpaydin and C. Kaynak,
UCI Machine Learning Repository, CC BY 4.0, which come with scikit-learn.
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
from onnx import numpy_helper
from PIL import Image

from benchmarks.pages import DOCS, ROOT
from tests.digits.data import digits
from tests.digits.networks import DEPTHWISE, EXPANSION, model

FOLDER = ROOT / "examples" / "digits"
FIGURE = DOCS / "images" / "digits.png"
PHOTOS = range(40)
CALIBRATION = range(40, 60)
"""Which of the digits that are held out."""

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_FACTOR = 100
_ENLARGED = 8 * 8
_SHOWN, _GAP = 8, 8


def network() -> onnx.ModelProto:
    """The network, with one channel as small as described."""
    made = model("relu", 0)
    made.graph.name = "digits"
    arrays = {tensor.name: tensor for tensor in made.graph.initializer}
    filters = numpy_helper.to_array(arrays[f"{DEPTHWISE}.weight"])
    channel = int(np.abs(filters).max(axis=(1, 2, 3)).argmax())
    norm = f"{EXPANSION}_norm"
    factors = {f"{norm}.weight": 1 / _FACTOR, f"{norm}.bias": 1 / _FACTOR}
    for name, factor in {**factors, f"{DEPTHWISE}.weight": _FACTOR}.items():
        array = numpy_helper.to_array(arrays[name]).copy()
        array[channel] *= factor
        arrays[name].CopyFrom(numpy_helper.from_array(array, name))
    return made


def named() -> str:
    """A line for each photo: its file, and the digit on it."""
    return "".join(f"{at:02}.png {digits().test_labels[at]}\n" for at in PHOTOS)


def figure() -> Image.Image:
    """The first photos in a row."""
    files = sorted((FOLDER / "photos").glob("*.png"))[:_SHOWN]
    row = Image.new("L", (_SHOWN * _ENLARGED + (_SHOWN - 1) * _GAP, _ENLARGED), 255)
    for at, file in enumerate(files):
        row.paste(Image.open(file), (at * (_ENLARGED + _GAP), 0))
    return row


def write() -> None:
    """Make the folder."""
    for name, chosen in (("photos", PHOTOS), ("calibration", CALIBRATION)):
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        for at in chosen:
            small = Image.fromarray(np.rint(digits().test_images[at, 0] * 255).astype(np.uint8))
            large = small.resize((_ENLARGED, _ENLARGED), Image.Resampling.BICUBIC)
            large.save(FOLDER / name / f"{at:02}.png", optimize=True)
    onnx.save(network(), FOLDER / "digits.onnx")
    (FOLDER / "named.txt").write_text(named(), encoding="utf-8")
    (FOLDER / "digits.txt").write_text("".join(f"{name}\n" for name in NAMES), encoding="utf-8")
    FIGURE.parent.mkdir(exist_ok=True)
    figure().save(FIGURE, optimize=True)


if __name__ == "__main__" and "--write" in sys.argv:
    write()
