"""A quantised network in floats, layer by layer: everything is rounded to its codes but the sums.

Inputs, weights, biases and outputs take the values that their codes stand for, sums are
onnxruntime's. Between layers only codes are kept, of all inputs at once, so memory is bounded by
the widest cut through the network times their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import FloatArray, Layer
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.quantization.model import Model

Feed = Mapping[str, FloatArray]


class Codes:
    """Tensors of all calibration inputs, rounded to codes or halves where they are such."""

    def __init__(self, model: Model) -> None:
        self._encodings = model.activations
        self._floats = model.floats
        self._kept: dict[str, list[npt.NDArray[np.generic]]] = {}

    def add(self, name: str, array: FloatArray) -> None:
        """Keep a tensor of the next input."""
        encoding = self._encodings.get(name)
        kept: npt.NDArray[np.generic] = array if encoding is None else encoding.quantize(array)
        if self._floats.get(name) == 16:
            kept = array.astype(np.float16)
        self._kept.setdefault(name, []).append(kept)

    def feeds(self, names: Iterable[str]) -> Iterator[Feed]:
        """Yield the tensors `names` of one input after the other, as reals."""
        columns = {name: self._kept[name] for name in dict.fromkeys(names)}
        for row in zip(*columns.values(), strict=True):
            yield {name: self._real(name, kept) for name, kept in zip(columns, row, strict=True)}

    def forget_all_but(self, names: set[str]) -> None:
        """Drop the other tensors."""
        self._kept = {name: kept for name, kept in self._kept.items() if name in names}

    def _real(self, name: str, kept: npt.NDArray[np.generic]) -> FloatArray:
        encoding = self._encodings.get(name)
        if encoding is None:
            return kept.astype(np.float32, copy=False) if kept.dtype == np.float16 else kept  # type: ignore[return-value]
        return encoding.dequantize(kept)  # type: ignore[arg-type]


def run_rounded(layer: Layer, model: Model, codes: Codes) -> Iterator[Feed]:
    """Yield the outputs of one layer with rounded parameters, not rounded yet, input by input."""
    tensors = model.network.tensors
    names = [name for name in dict.fromkeys(layer.inputs) if name in tensors]
    engine = FloatEngine(model.as_coded.subnetwork([layer], names, layer.outputs))
    return (engine.run(feed) for feed in codes.feeds(names))
