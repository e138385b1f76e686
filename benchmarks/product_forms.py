"""One product in several forms on the DSP: a part of docs/results/layer-times.md.

Rows of CHANNELS inputs are multiplied by CHANNELS x CHANNELS weights, as a Gemm, as a MatMul with a
constant or with two activations, and as a 1x1 convolution whose rows are its batch, its height or
its width. The table says which layers hexsim makes of each form, and what they cost.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.quantization.model import Model
from hexsim.reports.text import table
from hexsim.timing.results import LayerTiming

CHIP = "sd865"
RELEASES = ("qnn-2.45", "snpe-1.63")
CHANNELS = 960
ROWS = (1, 7, 56, 256)
FORMS = (
    "Gemm",
    "MatMul, constant",
    "MatMul, two activations",
    "Conv 1x1, batch",
    "Conv 1x1, height",
    "Conv 1x1, width",
)
_OPSET = 13


@dataclass(frozen=True)
class FormCost:
    """One form with so many rows: its layers that take time, and the whole call."""

    form: str
    rows: int
    layers: tuple[LayerTiming, ...]
    total_us: float

    @property
    def layers_us(self) -> float:
        """The time of all layers."""
        return sum(layer.us for layer in self.layers)

    @property
    def longest(self) -> LayerTiming:
        """The layer that takes most of it."""
        return max(self.layers, key=lambda layer: layer.us)


def model(form: str, rows: int, channels: int = CHANNELS) -> Model:
    """Return the product in one form."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "product.onnx"
        onnx.save(_onnx(form, rows, channels), path)
        return hexsim.load(path)


def cost(form: str, rows: int, stack: str, channels: int = CHANNELS) -> FormCost:
    """Simulate one form on the DSP."""
    deployment = Deployment(model(form, rows, channels), Platform.load(CHIP, stack), "dsp")
    result = deployment.simulate()
    layers = tuple(layer for layer in result.layers if layer.duration_ps)
    return FormCost(form, rows, layers, result.total_us)


def costs(stack: str) -> Iterator[FormCost]:
    """Simulate every form with every number of rows."""
    return (cost(form, rows, stack) for rows in ROWS for form in FORMS)


def summary(stack: str) -> str:
    """Return a line per number of rows and form."""
    header = ("rows", "form", "layers", "packets", "KiB from DDR", "layers us", "call us", "bound")
    lines = [_line(each) for each in costs(stack)]
    return table(header, lines, left=frozenset({1, 2, 7}))


def _line(each: FormCost) -> Sequence[str]:
    kinds = Counter(
        f"{layer.type} on {layer.engine}" if layer.engine != "hvx" else layer.type
        for layer in each.layers
    )
    return (
        str(each.rows),
        each.form,
        ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in kinds.items()),
        str(sum(layer.packets for layer in each.layers)),
        f"{sum(layer.ddr_read_bytes for layer in each.layers) / 1024:.0f}",
        f"{each.layers_us:.0f}",
        f"{each.total_us:.0f}",
        each.longest.bound,
    )


def _onnx(form: str, rows: int, channels: int) -> onnx.ModelProto:
    weights = np.full((channels, channels), 0.01, np.float32)
    constants: dict[str, np.ndarray] = {"weights": weights}
    if form == "Gemm":
        node = helper.make_node("Gemm", ["in", "weights", "bias"], ["out"])
        constants["bias"] = np.zeros(channels, np.float32)
        shape: tuple[int, ...] = (rows, channels)
    elif form.startswith("MatMul"):
        node = helper.make_node("MatMul", ["in", "weights"], ["out"])
        shape = (1, rows, channels)
    else:
        node = helper.make_node("Conv", ["in", "weights"], ["out"])
        constants["weights"] = weights.reshape(channels, channels, 1, 1)
        shape = {
            "Conv 1x1, batch": (rows, channels, 1, 1),
            "Conv 1x1, height": (1, channels, rows, 1),
            "Conv 1x1, width": (1, channels, 1, rows),
        }[form]
    inputs = {"in": shape}
    if form == "MatMul, two activations":
        inputs["weights"] = (1, *constants.pop("weights").shape)
    graph = helper.make_graph(
        [node],
        "product",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in inputs.items()],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
