"""Loads a model from a file, or by the name of a built-in network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from zipfile import BadZipFile, ZipFile

import numpy.typing as npt

from hexsim import dlc, models
from hexsim.dlc import Container, Metadata
from hexsim.errors import HexsimError, spelled
from hexsim.files.places import is_there, require_ordinary
from hexsim.graph.imports import ImportReport, after_passes
from hexsim.graph.ir import Network
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.overrides.targets import (
    assigned,
    followed,
    from_nodes,
    require_this_network,
)
from hexsim.records import dataclass, replace
from hexsim.texts.arguments import arguments_checked
from hexsim.texts.text import visible

if TYPE_CHECKING:
    from onnx import ModelProto

    from hexsim.onnx_io.read.reader import Imported
else:
    ModelProto = Any  # onnx takes long to import, and a file does not need the type

InputDims = Mapping[str, Sequence[int]]
InputValues = Mapping[str, npt.ArrayLike]


class ModelInMemory(str):
    """The name of `model` where a file is expected; loading it gives the model itself."""

    model: Model
    __hash__ = object.__hash__

    def __new__(cls, model: Model) -> ModelInMemory:
        """Return the name of `model` with the model."""
        name = super().__new__(cls, model.name)
        name.model = model
        return name

    def __eq__(self, other: object) -> bool:
        return self is other


@arguments_checked
def load(
    source: str | Path | ModelProto,
    *,
    input_dims: InputDims | None = None,
    input_values: InputValues | None = None,
    output_names: Sequence[str] = (),
    optimized: bool = True,
    own_encodings: bool = True,
    keep_batch_norm: bool = False,
    caffe_bin: str | Path | None = None,
) -> Model:
    """Load a .dlc file, an ONNX model, a file of another framework, or a built-in network.

    `input_dims` gives inputs their shapes (ONNX axis order): symbolic ones of an ONNX file, other
    ones of a .dlc file. `input_values` makes inputs of an ONNX file constants, and `output_names`
    ends its network at those tensors instead of its outputs. `own_encodings` False ignores the
    encodings of quantising nodes in the file. `optimized` False leaves the graph of an ONNX file
    unchanged: nothing is folded or fused; a .dlc file stays as it was converted. `keep_batch_norm`
    only leaves batch norms separate from the layers before them. `caffe_bin` has the weights of a
    prototxt; default: the caffemodel of the same name beside it.
    Only a .dlc file can contain a quantised network. Raises HexsimError naming the file and what is
    wrong with it.
    """
    read = load_container(
        source,
        input_dims=input_dims,
        input_values=input_values,
        output_names=output_names,
        optimized=optimized,
        keep_batch_norm=keep_batch_norm,
        caffe_bin=caffe_bin,
    )
    return read.model if own_encodings else replace(read.model, own_overrides=NO_OVERRIDES)


def load_container(
    source: str | Path | ModelProto,
    *,
    input_dims: InputDims | None = None,
    input_values: InputValues | None = None,
    output_names: Sequence[str] = (),
    optimized: bool = True,
    overrides: Overrides = NO_OVERRIDES,
    keep_batch_norm: bool = False,
    caffe_bin: str | Path | None = None,
) -> Container:
    """Load as `load` does, with the metadata that a .dlc file has and other sources lack.

    The container of an ONNX file gets `overrides` and those of quantising nodes in the file; for a
    tensor in both, `overrides` take precedence. A .dlc file has those it was converted with. Also
    raises HexsimError if none of `overrides` belongs to the network.
    """
    options: _LoadOptions = {
        "input_dims": input_dims or {},
        "input_values": input_values or {},
        "output_names": output_names,
    }
    settings = _Settings(optimized, keep_batch_norm, overrides)
    if not isinstance(source, str | Path):
        return _from_onnx(partial(_read_model, source, options), settings)
    if isinstance(source, ModelInMemory):
        model = _resized(source.model, input_dims or {})
        return Container(model, Metadata(), model.own_overrides)
    require_ordinary(source)
    if is_dlc(source) and is_there(source):
        if input_values or output_names:
            raise HexsimError(
                f"'{source}' is converted already; give inputs a value, and the network another "
                "end, when the ONNX file is"
            )
        read = dlc.read(source)
        return _with_node_overrides(replace(read, model=_resized(read.model, input_dims or {})))
    return _from_onnx(partial(_read, str(source), options, caffe_bin), settings)


@arguments_checked
def import_report(
    source: str | Path | ModelProto,
    *,
    input_dims: InputDims | None = None,
    input_values: InputValues | None = None,
    output_names: Sequence[str] = (),
) -> ImportReport:
    """Return the report on importing an ONNX file; arguments as for `load`.

    Raises HexsimError for a .dlc file, which has no such report.
    """
    return required_imports(
        load_container(
            source, input_dims=input_dims, input_values=input_values, output_names=output_names
        ),
        source,
    )


def required_imports(read: Container, source: str | Path) -> ImportReport:
    """Return the report on importing the ONNX file that was `read`; HexsimError for other files."""
    if read.imports is None:
        raise HexsimError(
            f"'{source}' does not say what became of the nodes it was converted from; "
            "give the ONNX file"
        )
    return read.imports


def applied_overrides(
    read: Container, source: str | Path, *, override_params: bool | None
) -> Overrides:
    """Return the overrides of the model `read` from `source` if `override_params`, else none.

    By default (None) the result is the overrides from nodes of an ONNX file. Raises HexsimError if
    `override_params` is true but there are no overrides (an empty file of overrides at conversion
    is enough), or the model is quantised already.
    """
    if override_params is None:
        return NO_OVERRIDES if read.model.quantized else read.overrides.of_nodes()
    if not override_params:
        return NO_OVERRIDES
    if read.model.quantized:
        raise HexsimError(
            f"'{source}' is quantised already, and {spelled('override_params')} is about "
            "quantising; "
            "leave it out, or give the float file"
        )
    if not read.overrides and not read.metadata.had_overrides:
        raise HexsimError(
            f"'{source}' holds no overrides for {spelled('override_params')}; convert the model "
            "with "
            f"{spelled('quantization_overrides')}, or leave it out"
        )
    return read.overrides


def is_dlc(source: str | Path) -> bool:
    """Return whether `source` has the suffix of a .dlc file, or is one that ends in .bin.

    Context binaries end so, and files of weights too; what the file holds decides. A model in
    memory is converted, as a .dlc file is.
    """
    if isinstance(source, ModelInMemory):
        return True
    path = Path(source)
    if path.suffix.lower() != ".bin" or not path.is_file():
        return path.suffix.lower() == ".dlc"
    try:
        with ZipFile(path) as archive:
            return {"model", "model.params"} <= set(archive.namelist())
    except (OSError, BadZipFile):
        return False


def is_builtin(source: str | Path) -> bool:
    """Return whether `load` takes `source` as the name of a built-in network."""
    if isinstance(source, ModelInMemory):
        return False
    return models.is_name(str(source)) and not is_there(source)


def _resized(model: Model, input_dims: InputDims) -> Model:
    if not input_dims:
        return model
    from hexsim.passes.network_inputs import (
        resized,  # with all passes, which a .dlc file does not need
    )

    return replace(model, network=resized(model.network, input_dims), graphs=())


@dataclass(frozen=True)
class _Settings:
    """How to process a network after reading: see `load_container`."""

    optimized: bool
    keep_batch_norm: bool
    overrides: Overrides


def _from_onnx(read: Callable[[], Imported], settings: _Settings) -> Container:
    from hexsim.passes import optimize_reported  # a .dlc file is read without onnx
    from hexsim.passes.provenance import provenance

    imported = read()
    stages: tuple[Network, ...] = (imported.network,)
    report = imported.report
    if settings.optimized:
        stages, recognised = optimize_reported(
            imported.network, keep_batch_norm=settings.keep_batch_norm
        )
        report = after_passes(report, recognised, imported.network, stages[-1])
    network, origins = stages[-1], provenance(stages, imported.named, imported.rearranged)
    of_file = assigned(settings.overrides, imported.network)
    require_this_network(followed(of_file, origins), network)
    overrides = of_file.over(from_nodes(imported.codes, imported.network))
    return _with_node_overrides(
        Container(
            Model(network, provenance=origins),
            Metadata(),
            followed(overrides, origins),
            imports=report,
        )
    )


class _LoadOptions(TypedDict):
    """Options for reading an ONNX model."""

    input_dims: InputDims
    input_values: InputValues
    output_names: Sequence[str]


def _read_model(model: ModelProto, options: _LoadOptions) -> Imported:
    """Read an ONNX model from memory."""
    import onnx

    from hexsim.onnx_io.read.reader import read_with_codes

    if not isinstance(model, onnx.ModelProto):
        raise HexsimError(
            "a model to load is the name of a file or a built-in network, or an onnx.ModelProto, "
            f"not {type(model).__name__}"
        )
    return read_with_codes(model, **options)


def _read(source: str, options: _LoadOptions, caffe_bin: str | Path | None) -> Imported:
    """Read a file of a framework, or a built-in network."""
    from hexsim.onnx_io.read.reader import read_with_codes

    if is_builtin(source) and caffe_bin is None:
        network = models.build(source)
        return read_with_codes(network.proto, weights=network.weights, name=source, **options)
    from hexsim.frameworks import is_prototxt, read_foreign

    path = Path(source)
    if caffe_bin is not None and not is_prototxt(path):
        raise HexsimError(f"'{source}' is no prototxt, so no weights of a caffemodel belong to it")
    models.require_model(source)
    dims, output_names = options["input_dims"], options["output_names"]
    foreign = read_foreign(path, caffe_bin, input_dims=dims, output_names=output_names)
    if foreign is None:
        return read_with_codes(path, **options)
    return read_with_codes(
        foreign.proto,
        input_dims=foreign.input_dims,
        input_values=options["input_values"],
        output_names=foreign.output_names,
        weights=foreign.weights,
        name=visible(path.stem),
    )


def _with_node_overrides(read: Container) -> Container:
    """Give a float model the overrides from nodes of its ONNX file."""
    if read.model.quantized or not read.overrides:
        return read
    return replace(read, model=replace(read.model, own_overrides=read.overrides.of_nodes()))
