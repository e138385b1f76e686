"""ONNX's interface of backends, with which ONNX's own tests check hexsim.

    outputs = hexsim.onnx_backend.prepare(model, "DSP").run([x])

"CPU" is the CPU runtime, in floats. "DSP" and "HTP" quantise the model on the given inputs, with
the encodings of its own nodes, and compute in fixed point; "AUTO" is the one that the chip has. A
layer that this runtime refuses is an error and does not fall back to the CPU, except nodes that
quantise inputs or dequantise outputs, which run on the CPU in an application too.

ONNX's tests pass weights, shapes and axes as inputs, which are constants in networks. So if a model
has nodes without a layer, all inputs except the first become constants, unless this makes more
such nodes.

Sequences, strings, and everything else that `hexsim.load` refuses raise HexsimError.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx.backend.base import Backend, BackendRep

from hexsim.deployment import Deployment, deploy
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import runtime_on
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError, unknown
from hexsim.graph.ir import Layer, Network
from hexsim.inputs.stored import file_output, stored_inputs
from hexsim.layers import Opaque
from hexsim.quantization.model import Model
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import DEFAULT_CHIP, FIXED_POINT, RuntimeChoice

Array = npt.NDArray[Any]
Arrays = Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike]

DEVICES: Mapping[str, RuntimeChoice] = {"CPU": "cpu", "DSP": "dsp", "HTP": "htp", "AUTO": "auto"}
"""Runtimes by the names of ONNX's devices."""

_QUANTIZE_DEQUANTIZE = ("QuantizeLinear", "DequantizeLinear")


class Prepared(BackendRep):
    """A model that is ready to run on a device of a platform."""

    def __init__(self, model: onnx.ModelProto, device: str, platform: Platform) -> None:
        self._model, self._platform = model, platform
        self._runtime = runtime_on(platform, DEVICES[device], device)
        constants = {array.name for array in model.graph.initializer}
        self._inputs = [v.name for v in model.graph.input if v.name not in constants]

    def run(self, inputs: Arrays, **kwargs: Any) -> tuple[Array, ...]:
        """Return the outputs, in the order, axes and types of the file.

        `inputs` are arrays in the file's order, or by name. Raises HexsimError for what cannot be
        read or does not run on the device.
        """
        feeds = self._named(inputs)
        deployment = self.deployment(feeds)
        network = deployment.network
        values = deployment.executor().run(_stored(network, feeds))
        types = {value.name: value.type.tensor_type for value in self._model.graph.output}
        return tuple(
            _as_declared(file_output(network, name, values[name]), types[name].elem_type)
            for name in network.outputs
        )

    def deployment(self, inputs: Arrays) -> Deployment:
        """Return the deployment for these inputs; errors as in `run`."""
        feeds = self._named(inputs)
        model = self._read(feeds)
        if self._runtime in FIXED_POINT:
            model = quantize(
                model.network, [_stored(model.network, feeds)], overrides=model.own_overrides
            )
        deployment = deploy(model, self._platform, self._runtime)
        _require_on(deployment)
        return deployment

    def _named(self, inputs: Arrays) -> dict[str, Array]:
        if isinstance(inputs, Mapping):
            return {name: np.asarray(array) for name, array in inputs.items()}
        if len(inputs) > len(self._inputs):
            raise HexsimError(
                f"{len(inputs)} arrays for {len(self._inputs)} inputs; give one for each input"
            )
        try:
            return {n: np.asarray(a) for n, a in zip(self._inputs, inputs, strict=False)}
        except ValueError:  # lists of unequal length
            raise HexsimError("an input is a sequence; hexsim reads tensors only") from None

    def _read(self, feeds: Mapping[str, Array]) -> Model:
        """Return the model unchanged, or with all inputs except the first as constants."""
        try:
            free: Model | HexsimError = load(self._model)
        except HexsimError as error:
            free = error
        if isinstance(free, Model) and not _opaque(free.network):
            return free
        values = {name: feeds[name] for name in self._inputs[1:] if name in feeds}
        if values:
            try:
                fixed = load(self._model, input_values=values)
            except HexsimError:
                pass
            else:
                if isinstance(free, HexsimError) or _opaque(fixed.network) <= _opaque(free.network):
                    return fixed
        if isinstance(free, HexsimError):
            raise free
        return free


class HexsimBackend(Backend):
    """The backend; the keyword arguments `chip` and `stack` select a platform.

    Without a stack, no release limits the DSP: it takes every layer that hexsim has a kernel for.
    """

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return True for "CPU", "DSP", "HTP" and "AUTO"."""
        return device in DEVICES

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Return True if `model` can be read; a device may still refuse its layers."""
        try:
            load(model)
        except HexsimError:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> Prepared:
        """Return `model` ready to run. Raises HexsimError for an unknown device or platform."""
        if device not in DEVICES:
            raise unknown("device", device, DEVICES)
        chip = "sd835" if device == "DSP" else DEFAULT_CHIP  # which has no data for the DSP
        platform = Platform.load(kwargs.get("chip", chip), kwargs.get("stack"))
        if kwargs.get("stack") is None:
            platform = replace(platform, stack=platform.stack.taking("any"))
        return Prepared(model, device, platform)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[npt.DTypeLike, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Array, ...]:
        """Run one node in the newest opset, or in `opset_version`; errors as in `run`."""
        names = [name for name in node.input if name]
        arrays = [np.asarray(array) for array in inputs]
        opset = int(kwargs.get("opset_version", onnx.defs.onnx_opset_version()))
        graph = onnx.helper.make_graph(
            [node],
            node.op_type,
            [
                onnx.helper.make_tensor_value_info(
                    name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
                )
                for name, array in zip(names, arrays, strict=True)
            ],
            [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name],
        )
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)]
        )
        return cls.prepare(model, device, **kwargs).run(arrays)


prepare = HexsimBackend.prepare
run_model = HexsimBackend.run_model
run_node = HexsimBackend.run_node
supports_device = HexsimBackend.supports_device
is_compatible = HexsimBackend.is_compatible


def is_coding(layer: Layer, network: Network) -> bool:
    """Return True for a node of the file that quantises or dequantises by one scale."""
    if not isinstance(layer, Opaque) or layer.op_type.split(".")[-1] not in _QUANTIZE_DEQUANTIZE:
        return False
    return all(prod(network.shape(name)) == 1 for name in layer.inputs[1:])


def _opaque(network: Network) -> int:
    return sum(isinstance(layer, Opaque) for layer in network.layers)


def _stored(network: Network, feeds: Mapping[str, Array]) -> dict[str, Any]:
    return stored_inputs(network, {n: a for n, a in feeds.items() if n in network.inputs})


def _require_on(deployment: Deployment) -> None:
    """Raise HexsimError for a layer that falls back from the runtime of the deployment."""
    for subnet in deployment.subnets:
        layers = [layer for layer in subnet.layers if not is_coding(layer, deployment.network)]
        if subnet.runtime != deployment.runtime and layers:
            raise HexsimError(
                f"layer '{layers[0].name}' ({layers[0].type}) cannot run on {deployment.runtime}: "
                f"{subnet.reason}"
            )


def _as_declared(array: Array, element_type: int) -> Array:
    """Return an array in the file's type; floats of other widths were computed as float32."""
    if not element_type:
        return np.asarray(array, order="C")
    return np.asarray(array, onnx.helper.tensor_dtype_to_np_dtype(element_type), order="C")
