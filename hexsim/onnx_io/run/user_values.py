"""Computes the float values of a user-defined layer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import UserDefined
from hexsim.onnx_io.write.precision import Precision, as_float16, rounded
from hexsim.udl.calling import float_values


class UserValues:
    """A layer prepared to run; its constants come from `network`."""

    def __init__(self, layer: UserDefined, network: Network, precision: Precision) -> None:
        self._layer = layer
        self._precision = precision
        shapes = network.input_shapes(layer), network.layer_outputs(layer)
        self._node = layer.node(*shapes)
        self._constants = {
            name: rounded(network.constants[name].value(), precision)
            for name in layer.inputs
            if name in network.constants
        }

    def run(self, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return its outputs for `values` of tensors, arrays by name in stored order."""
        arguments = [
            self._constants[name] if name in self._constants else self._as_stored(values[name])
            for name in self._layer.inputs
        ]
        results = float_values(self._layer.known, self._node, self._layer.at_places(arguments))
        stored_results = map(self._as_stored, results)
        return dict(zip(self._layer.outputs, stored_results, strict=True))

    def _as_stored(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Round float32 values as the precision stores activations."""
        if self._precision == "float32" or array.dtype != np.float32:
            return array
        return as_float16(array)
