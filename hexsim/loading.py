"""Finds what a user means by a model: a file, or the name of a built-in network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hexsim import models
from hexsim.errors import HexsimError, nearest
from hexsim.graph.ir import Network
from hexsim.graph.passes import optimise
from hexsim.onnx_io.reader import read


def load(
    source: str | Path,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    optimised: bool = True,
) -> Network:
    """Load an ONNX file, or a built-in network by name.

    `input_dims` gives shapes (ONNX axis order) to inputs whose shapes are symbolic.
    `optimised` False keeps the graph as the file has it: nothing folded, nothing fused.
    Raises HexsimError naming the file and what is wrong with it.
    """
    network = _read(str(source), input_dims)
    return optimise(network) if optimised else network


def is_builtin(source: str | Path) -> bool:
    """True if `load` would take `source` as the name of a built-in network."""
    return not Path(source).exists() and models.is_name(str(source))


def _read(source: str, input_dims: Mapping[str, Sequence[int]] | None) -> Network:
    path = Path(source)
    if is_builtin(source):
        built = models.build(source)
        return read(built.proto, weights=built.weights, input_dims=input_dims, name=source)
    if not path.exists():
        if path.suffix or len(path.parts) > 1:
            raise HexsimError(f"no such file: '{source}'; give an ONNX file or a network's name")
        raise HexsimError(
            f"'{source}' is neither a file nor a built-in network; "
            f"{nearest(source, models.names())}"
        )
    return read(path, input_dims=input_dims)
