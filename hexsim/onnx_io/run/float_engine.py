"""Runs a Network in float arithmetic, by onnxruntime on the CPU of the host.

float32 models the CPU runtime. half_storage models a GPU that stores float16 and computes in
float32: inputs, weights and the output of every layer are rounded to float16. float16 models a GPU
that also computes in float16, as far as onnxruntime allows: its CPU kernels have no float16
arithmetic, so the result of every operator within a layer (a sum before its bias, each partial
sum of several operands, scale before shift) is rounded as well, but the products inside one
convolution, matrix product, pooling or softmax are summed in float32. An opaque layer computes in
float32; its outputs are not rounded.

A user-defined layer calls the user's function of floats, between sessions of onnxruntime. Its
arithmetic is not changed; its inputs and outputs are rounded like those of other layers.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim import budget
from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.layers import UserDefined
from hexsim.onnx_io.run.session import OrtSession
from hexsim.onnx_io.write.precision import Precision, as_float16, rounded
from hexsim.udl.calling import float_values

__all__ = ["FloatEngine", "Precision"]


class FloatEngine:
    """A network prepared to run on any number of inputs; equal inputs give equal bytes.

    `outputs` are the tensors that `run` returns, by default the network's outputs. `threads` is
    the number of threads inside one operator, 0 for one per core.
    Raises HexsimError if a weight holds NaN or infinity, or if onnxruntime refuses the network.
    """

    def __init__(
        self,
        network: Network,
        outputs: Sequence[str] | None = None,
        precision: Precision = "float32",
        threads: int = 0,
    ) -> None:
        elements = sum(tensor.elements for tensor in network.tensors.values())
        budget.require(budget.VALUES, elements, f"an inference of network '{network.name}'")
        self._network = network
        self._outputs = tuple(network.outputs if outputs is None else outputs)
        self._parts: list[OrtSession | _UserValues] = []
        if not any(isinstance(layer, UserDefined) for layer in network.layers):
            self._parts.append(OrtSession(network, self._outputs, precision, threads))
            return
        needed = network.subnetwork(network.layers, network.inputs, self._outputs)
        for by_user, layers in groupby(needed.layers, lambda item: isinstance(item, UserDefined)):
            self._parts += _parts(needed, tuple(layers), precision, threads, by_user=by_user)

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs for `inputs`, arrays by tensor name in stored order.

        Float tensors come as float32, others in their own type.
        """
        if len(self._parts) == 1 and isinstance(self._parts[0], OrtSession):
            return self._parts[0].run(inputs)
        tensors = self._network.tensors
        values = {n: np.asarray(inputs[n], tensors[n].dtype) for n in self._network.inputs}
        for part in self._parts:
            values.update(part.run(values))
        return {name: values[name] for name in self._outputs}


class _UserValues:
    """A user-defined layer prepared to run; its constants come from `network`."""

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


def _parts(
    network: Network, layers: Sequence[Layer], precision: Precision, threads: int, *, by_user: bool
) -> list[OrtSession | _UserValues]:
    """Prepare a sequence of layers, which are either all user-defined or none of them."""
    if by_user:
        return [
            _UserValues(layer, network, precision)
            for layer in layers
            if isinstance(layer, UserDefined)
        ]
    inputs, outputs = network.boundary(layers)
    part = network.subnetwork(layers, inputs, outputs)
    return [OrtSession(part, outputs, precision, threads)]
