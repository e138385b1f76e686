"""The CPU subnets of a network that has float layers among integer layers.

Consecutive layers of one width are run by onnxruntime, in float32 or with every result rounded to
float16. A Convert layer at a float layer rounds to the quantised values, or to the float16 values,
of both its input and its output, so that a float layer reads and writes what the network says.
Weights and biases are those of the file, since a bias may be wider than its layer.

Left out: float16 arithmetic. The CPU runtime computes in float32, and 16 bits are a form of
storage.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Literal

from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.onnx_io.float_engine import FloatEngine, Precision
from hexsim.planning.plan import PlannedSubnet
from hexsim.quantization.float_layers import converts_floats
from hexsim.quantization.model import Model

Values = dict[str, FloatArray]
_Kind = Literal["convert", 16, 32]


class MixedSubnet:
    """A CPU subnet made ready to run, with float32 inputs and outputs.

    `threads` share the work of a layer; 0 means one per core.
    """

    def __init__(self, subnet: PlannedSubnet, model: Model, threads: int = 0) -> None:
        self._outputs = subnet.outputs
        part = model.as_stored.subnetwork(subnet.layers, subnet.inputs, subnet.outputs)
        runs = groupby(part.layers, key=lambda layer: _kind(layer, model))
        self._runs = [_run(kind, tuple(layers), part, model, threads) for kind, layers in runs]

    def run(self, inputs: Mapping[str, FloatArray]) -> Values:
        """Return the outputs for `inputs`, arrays by tensor name in stored order."""
        values = dict(inputs)
        for run in self._runs:
            values.update(run.run(values))
        return {name: values[name] for name in self._outputs}


class _Conversions:
    """Convert layers, none of which reads the output of another one."""

    def __init__(self, layers: Sequence[Layer], part: Network, model: Model) -> None:
        self._tensors = [(layer.inputs[0], layer.outputs[0]) for layer in layers]
        self._part = part
        self._model = model

    def run(self, values: Mapping[str, FloatArray]) -> Values:
        """Return the outputs of the layers."""
        return {target: self._converted(source, target, values) for source, target in self._tensors}

    def _converted(self, source: str, target: str, values: Mapping[str, FloatArray]) -> FloatArray:
        constants = self._part.constants
        array = constants[source].finite() if source in constants else values[source]
        return self._model.rounded(target, self._model.rounded(source, array))


def _kind(layer: Layer, model: Model) -> _Kind:
    return "convert" if converts_floats(layer, model) else model.floats.get(layer.outputs[0], 32)


def _run(
    kind: _Kind, layers: Sequence[Layer], part: Network, model: Model, threads: int
) -> _Conversions | FloatEngine:
    if kind == "convert":
        return _Conversions(layers, part, model)
    names = {layer.name for layer in layers}
    written = [name for layer in layers for name in layer.outputs]
    read = dict.fromkeys(n for layer in layers for n in layer.inputs if n in part.tensors)
    outputs = [
        name
        for name in written
        if name in part.outputs
        or any(reader.name not in names for reader in part.consumers.get(name, ()))
    ]
    inputs = [name for name in read if name not in written]
    precision: Precision = "half_results" if kind == 16 else "float32"
    return FloatEngine(part.subnetwork(layers, inputs, outputs), None, precision, threads)
