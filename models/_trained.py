"""Trained weights in place of drawn ones, from an archive of arrays beside the network's file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ._built import BuiltModel

if TYPE_CHECKING:
    from ._weights import FloatArray


def archive(network: str) -> Path:
    """Return the file of the weights: float16 arrays, by the names of initialisers."""
    return Path(__file__).with_name(f"{network}.npz")


def trained(built: BuiltModel) -> BuiltModel:
    """Return the network with the weights of its archive."""
    import numpy as np
    from onnx import numpy_helper

    with np.load(archive(built.proto.graph.name), allow_pickle=False) as stored:
        arrays: dict[str, FloatArray] = {name: stored[name].astype(np.float32) for name in stored}
    for tensor in built.proto.graph.initializer:
        if tensor.name in arrays and tensor.name not in built.weights:
            tensor.CopyFrom(numpy_helper.from_array(arrays[tensor.name], tensor.name))
    weights = {name: partial(arrays.__getitem__, name) for name in built.weights}
    return BuiltModel(built.proto, weights)
