"""Simulates a quantised network in floats, layer by layer; only the sums are not quantised.

Inputs, weights, biases and outputs are rounded to the values of their codes (quantised values);
onnxruntime computes the sums. Between layers, only the codes of all inputs are stored, so memory is
bounded by the widest cut through the network times the number of inputs.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import FloatArray, Layer
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model

Feed = Mapping[str, FloatArray]


class Codes:
    """Tensors of all calibration inputs, stored as codes or float16 if the model does so."""

    def __init__(self, model: Model) -> None:
        self._encodings = model.activations
        self._floats = model.floats
        self._arrays: dict[str, list[npt.NDArray[np.generic]]] = {}

    def add(self, name: str, array: FloatArray) -> None:
        """Store a tensor of the next input."""
        encoding = self._encodings.get(name)
        stored: npt.NDArray[np.generic] = array if encoding is None else encoding.quantize(array)
        if self._floats.get(name) == 16:
            stored = array.astype(np.float16)
        self._arrays.setdefault(name, []).append(stored)

    def feeds(self, names: Iterable[str]) -> Iterator[Feed]:
        """Yield the tensors `names` of each input in turn, as real numbers."""
        columns = {name: self._arrays[name] for name in dict.fromkeys(names)}
        for row in zip(*columns.values(), strict=True):
            yield {
                name: self._real(name, stored) for name, stored in zip(columns, row, strict=True)
            }

    def forget_all_but(self, names: set[str]) -> None:
        """Drop all tensors except `names`."""
        self._arrays = {name: arrays for name, arrays in self._arrays.items() if name in names}

    def _real(self, name: str, stored: npt.NDArray[Any]) -> FloatArray:
        encoding = self._encodings.get(name)
        if encoding is None:
            return stored.astype(np.float32, copy=False) if stored.dtype == np.float16 else stored
        return encoding.dequantize(stored)


def run_rounded(layer: Layer, model: Model, codes: Codes) -> Iterator[Feed]:
    """Yield the outputs of a layer with rounded parameters for each input, before rounding."""
    tensors = model.network.tensors
    names = [name for name in dict.fromkeys(layer.inputs) if name in tensors]
    engine = FloatEngine(model.as_coded.subnetwork([layer], names, layer.outputs))
    return (engine.run(feed) for feed in codes.feeds(names))
