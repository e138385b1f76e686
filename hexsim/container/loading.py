"""Finds what a user means by a model: a file, or the name of a built-in network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hexsim import container, models
from hexsim.container import Container, Metadata
from hexsim.errors import HexsimError, nearest
from hexsim.passes.resizing import resized
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.overrides.stripped import followed, from_nodes
from hexsim.quantization.overrides.targets import require_this_network

InputDims = Mapping[str, Sequence[int]]


def load(
    source: str | Path, *, input_dims: InputDims | None = None, optimized: bool = True
) -> Model:
    """Load a .dlc file, an ONNX file, or a built-in network by name.

    `input_dims` gives inputs their shapes (ONNX axis order): symbolic ones of an ONNX file, other
    ones of a .dlc file. `optimized` False keeps the graph as an ONNX file has it: nothing
    folded, nothing fused; a .dlc file is as it was converted. Only a .dlc file can hold a
    quantised network. Raises HexsimError naming the file and what is wrong with it.
    """
    return load_container(source, input_dims=input_dims, optimized=optimized).model


def load_container(
    source: str | Path,
    *,
    input_dims: InputDims | None = None,
    optimized: bool = True,
    overrides: Overrides = NO_OVERRIDES,
) -> Container:
    """Load as `load` does, with the metadata that a .dlc file has and other sources lack.

    An ONNX file gets `overrides` with the container; nodes of its own that quantise give more, and
    where both speak of a tensor, `overrides` win. A .dlc file has those it was converted with.
    Raises HexsimError, besides, if none of `overrides` belongs to the network.
    """
    if is_dlc(source) and Path(source).exists():
        read = container.read(source)
        return replace(read, model=_resized(read.model, input_dims or {}))
    return _from_onnx(str(source), input_dims, optimized, overrides)


def applied_overrides(read: Container, source: str | Path, *, asked: bool) -> Overrides:
    """The overrides of what was `read` from `source`, if they are `asked` for, else none.

    Raises HexsimError if they are asked for and there is none, or nothing is left to quantise.
    """
    if not asked:
        return NO_OVERRIDES
    if read.model.quantized:
        raise HexsimError(
            f"'{source}' is quantised already, and --override-params is about quantising; leave "
            "it out, or give the float file"
        )
    if not read.overrides:
        raise HexsimError(
            f"'{source}' holds no overrides for --override-params; convert the model with "
            "--quantization-overrides, or leave the option out"
        )
    return read.overrides


def is_dlc(source: str | Path) -> bool:
    """True if the name of `source` is that of a .dlc file."""
    return Path(source).suffix.lower() == ".dlc"


def is_builtin(source: str | Path) -> bool:
    """True if `load` would take `source` as the name of a built-in network."""
    return not Path(source).exists() and models.is_name(str(source))


def _resized(model: Model, input_dims: InputDims) -> Model:
    if not input_dims:
        return model
    return replace(model, network=resized(model.network, input_dims))


def _from_onnx(
    source: str, input_dims: InputDims | None, optimized: bool, overrides: Overrides
) -> Container:
    from hexsim.onnx_io.reader import read_with_codes
    from hexsim.passes import optimize  # a .dlc file is read without onnx
    from hexsim.passes.fate import fate

    path = Path(source)
    if is_builtin(source):
        built = models.build(source)
        read = read_with_codes(
            built.proto, weights=built.weights, input_dims=input_dims, name=source
        )
    elif path.exists():
        read = read_with_codes(path, input_dims=input_dims)
    elif path.suffix or len(path.parts) > 1:
        raise HexsimError(
            f"no such file: '{source}'; give a .dlc or ONNX file, or a network's name"
        )
    else:
        raise HexsimError(
            f"'{source}' is neither a file nor a built-in network; "
            f"{nearest(source, models.names())}"
        )
    network = optimize(read.network) if optimized else read.network
    changed = fate(read.network, network)
    require_this_network(followed(overrides, changed), network)
    given = overrides.over(from_nodes(read.codes, read.network))
    return Container(Model(network), Metadata(), followed(given, changed))
