"""The lines that snpe-dlc-quantize logs: the encoding of every activation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hexsim.quantization.model import Model
from hexsim.quantization.overrides.override import is_overridden


def quantizer_log(model: Model, written: Path) -> Iterator[str]:
    """Yield the log of quantising `model` and writing it to `written`.

    Two lines per tensor: inputs first, then layer by layer. Offsets are 0 or less. The numbers of
    an override are printed as float32, in which a .dlc file of SNPE keeps them. The intermediate
    model of the log exists only in memory here.
    """
    yield "[INFO] InitializeStderr: DebugLog initialized."
    yield "[INFO] Writing intermediate model"
    network = model.network
    buffers = [(name, name) for name in network.inputs]
    buffers += [(layer.name, output) for layer in network.layers for output in layer.outputs]
    for layer_name, tensor in buffers:
        encoding = model.activations.get(tensor)
        if encoding is not None and is_overridden(model.origins.get(tensor)):
            encoding = encoding.as_float32()
        if tensor in model.floats:
            yield f"[INFO] Setting activation for layer: {layer_name} and buffer: {tensor}"
            yield f"[INFO] bw: {model.floats[tensor]}, float"
        if encoding is not None:
            yield f"[INFO] Setting activation for layer: {layer_name} and buffer: {tensor}"
            yield (
                f"[INFO] bw: {encoding.bitwidth}, min: {encoding.min:f}, max: {encoding.max:f}, "
                f"delta: {encoding.delta:f}, offset: {encoding.offset:f}"
            )
    yield f"[INFO] Writing quantized model to: {written}"
    yield "[INFO] DebugLog shutting down."
