"""`hexsim.convert`: a file of ONNX or another framework as a float .dlc file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from hexsim import __version__, dlc
from hexsim.api.pictures import Steps, steps_of
from hexsim.dlc import Container
from hexsim.dlc.loading import is_dlc, load_container
from hexsim.errors import HexsimError, note, spelled, warn_caller
from hexsim.graph.ir import Network
from hexsim.graph.network_ends import InputEncoding, InputType, PictureSteps
from hexsim.inputs.pictures import frame_of
from hexsim.layers import Opaque, UserDefined
from hexsim.layers.support import refusal
from hexsim.passes.network_inputs import set_input_formats, set_pictures
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.quantization.overrides.floats import all_in_floats
from hexsim.quantization.quantizer import quantize
from hexsim.results.conversion import Conversion, Fallback
from hexsim.runtimes import RUNTIMES, Runtime
from hexsim.texts.arguments import arguments_checked

_MODEL_VERSION_BYTES = 64
"""Bytes of a model version that the real converter keeps."""
_FLOAT = 32
"""Bits of a float, unless others are asked for."""


class Converting(TypedDict, total=False):
    """How a file is read, and what the .dlc file keeps besides, as `convert` says."""

    input_dims: Mapping[str, Sequence[int]] | None
    define_symbol: Mapping[str, int] | None
    input_values: Mapping[str, npt.ArrayLike] | None
    output_names: Sequence[str]
    caffe_bin: str | Path | None
    keep_batch_norm: bool
    input_type: Mapping[str, InputType] | None
    input_encoding: Mapping[str, InputEncoding] | None
    pictures: Steps | None
    quantization_overrides: str | Path | None
    model_version: str
    float_bitwidth: int


@arguments_checked
def convert(
    model: str | Path, output: str | Path | None = None, **how: Unpack[Converting]
) -> Conversion:
    """Convert a file of ONNX or another framework to a float .dlc file, as `hexsim convert` does.

    Without `output` nothing is written: the answer says which layers fall back to the CPU. `how`
    are the fields of `Converting`. `define_symbol` gives the names in the shapes of an ONNX file's
    inputs their sizes; the others up to `keep_batch_norm` are those of `hexsim.load`. `input_type`
    ("image", "default", "opaque") and `input_encoding` ("bgr", "rgb", "nv21" and others) are by the
    name of the input. `pictures` are the steps of `hexsim.pictures`, which the file keeps. So it
    does `model_version`, up to 64 ASCII characters, and the encodings of `quantization_overrides`,
    a file of AIMET. `float_bitwidth` 16 makes all its numbers floats of 16 bits. Raises HexsimError
    naming what is wrong, and where.
    """
    if is_dlc(str(model)):
        raise HexsimError(f"'{model}' is a .dlc file already; give an ONNX file")
    version, bits = how.get("model_version", "N/A"), how.get("float_bitwidth", _FLOAT)
    if bits not in (16, _FLOAT):
        raise HexsimError(f"{spelled('float_bitwidth')} is 16 or 32, not {bits!r}")
    is_text = isinstance(version, str) and version.isascii()
    if not is_text or len(version) > _MODEL_VERSION_BYTES:
        raise HexsimError(
            f"{spelled('model_version')} must be at most {_MODEL_VERSION_BYTES} ASCII characters"
        )
    source = _read(model, how)
    network = _network(source, how)
    if output is not None:
        command = _command(model, version, how)
        stored = _with_width(network, source.overrides, bits)
        metadata = dlc.Metadata(
            model_version=version, converter_command=command, converter_version=__version__
        )
        dlc.write(output, stored, metadata, source.overrides)
        _tell(network, source, has_overrides=how.get("quantization_overrides") is not None)
    return Conversion(
        network=network.name,
        file=None if output is None else str(output),
        layers=len(network.layers),
        macs=network.total_macs,
        parameters=network.total_parameters,
        overrides=len(source.overrides),
        fallbacks=tuple(fallbacks(network)),
    )


def _read(model: str | Path, how: Converting) -> Container:
    dims = dict(how.get("input_dims") or {})
    if symbols := how.get("define_symbol"):
        from hexsim.onnx_io.file.source import open_source
        from hexsim.onnx_io.read.input_shapes import shapes_of_symbols

        dims = {**shapes_of_symbols(open_source(str(model)), symbols), **dims}
    kept = how.get("quantization_overrides")
    return load_container(
        model,
        input_dims=dims,
        input_values=how.get("input_values"),
        output_names=how.get("output_names", ()),
        caffe_bin=how.get("caffe_bin"),
        keep_batch_norm=how.get("keep_batch_norm", False),
        overrides=NO_OVERRIDES if kept is None else read_aimet(kept),
    )


def _network(source: Container, how: Converting) -> Network:
    """Return the network with the forms of its inputs, and the steps from pictures to one."""
    types, encodings = how.get("input_type") or {}, how.get("input_encoding") or {}
    network = set_input_formats(require_float(source.model), types, encodings)
    if not (pictures := how.get("pictures")):
        return network
    steps = PictureSteps.of(None, steps_of(pictures))
    frame_of(network, steps)
    return set_pictures(network, steps)


def _command(model: str | Path, version: str, how: Converting) -> str:
    """Return the command in the form of the file's metadata."""
    dims, values = how.get("input_dims") or {}, how.get("input_values") or {}
    words: dict[str, object] = {
        "input_dim": _pairs({name: ",".join(map(str, dim)) for name, dim in dims.items()}),
        "input_encoding": _pairs(how.get("input_encoding")),
        "input_network": Path(model).name,
        "input_type": _pairs(how.get("input_type")),
        "model_version": version,
        "quantization_overrides": _name(how.get("quantization_overrides")),
    }
    bits = how.get("float_bitwidth", _FLOAT)
    if_given = {
        "define_symbol": _pairs(how.get("define_symbol")),
        "input_value": _pairs({name: _numbers(value) for name, value in values.items()}),
        "out_name": " ".join(how.get("output_names", ())),
        "caffe_bin": _name(how.get("caffe_bin")),
        "keep_batch_norm": how.get("keep_batch_norm"),
        "float_bitwidth": bits if bits != _FLOAT else None,
    }
    words |= {word: value for word, value in if_given.items() if value}
    return " ".join(["hexsim convert", *(f"{word}={value}" for word, value in words.items())])


def _tell(network: Network, source: Container, *, has_overrides: bool) -> None:
    for line in source.imports.notes if source.imports else ():
        note(line)
    if has_overrides:
        note("Processing user provided quantization encodings:")
    for line in node_fallbacks(network):
        warn_caller(line)
    if source.overrides:
        note(f"Kept {len(source.overrides)} quantization overrides")


def fallbacks(network: Network) -> Iterator[Fallback]:
    """Yield each layer that runtimes refuse, with those that have the same reason."""
    for layer in network.layers:
        reasons: dict[str, list[Runtime]] = {}
        for runtime in RUNTIMES:
            if (reason := refusal(layer, runtime, network)) is not None:
                reasons.setdefault(reason, []).append(runtime)
        for reason, runtimes in reasons.items():
            yield Fallback(
                layer=layer.name, type=layer.type, runtimes=tuple(runtimes), reason=reason
            )


def node_fallbacks(network: Network) -> Iterator[str]:
    """Yield a sentence for each opaque or user-defined node that the DSP refuses."""
    for layer in network.layers:
        if isinstance(layer, Opaque | UserDefined) and (reason := refusal(layer, "dsp", network)):
            yield f"node '{layer.name}' ({layer.type}): {reason}; it falls back to the CPU runtime"


def _with_width(network: Network, overrides: Overrides, bits: int) -> Model:
    """Return the model that the file holds, with floats of this width."""
    if bits == _FLOAT:
        return Model(network)
    if overrides:
        raise HexsimError(
            f"{spelled('float_bitwidth', bits)} makes all tensors float, so the encodings that are "
            f"kept for the quantiser ({len(overrides)}) cannot be applied; leave it out"
        )
    return quantize(network, None, overrides=all_in_floats(network, 16))


def _numbers(value: npt.ArrayLike) -> str:
    return ",".join(f"{number:g}" for number in np.ravel(value))


def _pairs(values: Mapping[str, object] | None) -> str | None:
    return " ".join(f"{name} {value}" for name, value in (values or {}).items()) or None


def _name(path: str | Path | None) -> str | None:
    """Return a file without its folders."""
    return None if path is None else Path(path).name
