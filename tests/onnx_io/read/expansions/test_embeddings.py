"""The beginning of a BERT: rows of tables, added and normalised."""

import numpy as np
import pytest

from tests.onnx_io.read.expansions.judged import assert_same, fused, model_of

RNG = np.random.default_rng(2)
TABLES = {
    name: RNG.standard_normal(shape).astype(np.float32)
    for name, shape in {"w": (30, 8), "p": (9, 8), "k": (2, 8), "g": (8,), "b": (8,)}.items()
}
FEED = {
    "ids": RNG.integers(0, 30, (2, 5)).astype(np.int32),
    "kinds": RNG.integers(0, 2, (2, 5)).astype(np.int32),
    "mask": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32),
    "places": np.array([[0, 1, 2, 3, 4], [2, 3, 4, 5, 6]], np.int32),
}


@pytest.mark.parametrize("opset", [12, 17])
@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ("ids - w p - g b", "y m"),
        ("ids kinds w p k g b mask", "y m"),
        ("ids kinds w p k g b - places", "y - z"),
    ],
)
def test_rows_are_added_and_normalised(inputs: str, outputs: str, opset: int) -> None:
    named = inputs.split()
    feed = {name: FEED[name] for name in named if name in FEED}
    weights = {name: TABLES[name] for name in named if name in TABLES}
    read = [name for name in outputs.split() if name != "-" and (name != "m" or "mask" in feed)]
    node = fused("EmbedLayerNormalization", inputs, outputs)
    left = {"Gather", "ReduceSum"} if "mask" in feed else {"Gather"}
    assert_same(model_of([node], feed, weights, " ".join(read), opset), feed, opaque=sorted(left))
