"""Reads .dlc files; a weight is read, and its digest checked, when it is first used."""

import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexsim.dlc.archive import Archive, open_archive
from hexsim.dlc.checks import check_arrays, check_model
from hexsim.dlc.document import DlcDocument, Metadata, StoredArray, with_mean_images
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.imports import ImportReport
from hexsim.graph.ir import Constant, Network
from hexsim.layers.onnx_nodes import looked_up
from hexsim.quantization.encodings import unpack
from hexsim.quantization.model import HtaSection, Model, restored
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.records import dataclass, replace

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Container:
    """The contents of a .dlc file; `overrides` are those that the quantiser may apply.

    For a model that was just read from an ONNX file, `imports` is the report on its nodes.
    """

    model: Model
    metadata: Metadata
    overrides: Overrides = NO_OVERRIDES
    imports: ImportReport | None = None


def read(path: str | Path) -> Container:
    """Read the .dlc file at `path`.

    Constants that are stored as codes are dequantised to floats. Raises HexsimError, now or when a
    weight is first used, if the file is truncated, altered, too new, no .dlc file of ours, does not
    describe a model (hexsim.dlc.checks), or has a user-defined layer without a definition.
    """
    archive = open_archive(Path(path).absolute())
    try:
        metadata = Metadata.from_bytes(archive.metadata)
        document = DlcDocument.from_bytes(archive.model)
        check_arrays(document, archive.params_end - archive.params_start)
        layers = tuple(looked_up(layer, path) for layer in document.layers)
        model = _model(replace(document, layers=layers), archive)
        check_model(document, model.network, archive.records)
        return Container(model, metadata, document.overrides)
    except InvalidDataError as error:
        raise HexsimError(
            f"'{path}' is no model: {error}; it was altered, or comes from another version of "
            "hexsim, convert the model again"
        ) from None


def _model(document: DlcDocument, archive: Archive) -> Model:
    stored = _stored_constants(document, archive)
    encodings = document.encodings
    if encodings is None:
        return Model(_network(document, stored, archive.records), graphs=document.graphs)
    values = {
        array.name: restored(stored[array.name], array.dtype, encodings.of_codes(array.name))
        for array in document.arrays
    }
    network = _network(document, values, archive.records)
    packs_weights = any(array.packing is not None for array in document.arrays)
    return Model(
        network,
        encodings.activations,
        encodings.parameters,
        stored,
        packs_weights,
        encodings.origins,
        hta=tuple(
            HtaSection(section.chip, section.layers, archive.records.get(section.entry, b""))
            for section in document.hta
        ),
        equalized=encodings.equalized,
        floats=encodings.floats,
        quantized=True,
        float_weights=encodings.float_weights,
        evidence=encodings.evidence,
        graphs=document.graphs,
        reference="float network" if encodings.float_weights else "the file's own weights",
    )


def _network(
    document: DlcDocument, constants: Mapping[str, Constant], entries: Mapping[str, bytes]
) -> Network:
    return Network(
        name=document.name,
        layers=document.layers,
        tensors={tensor.name: tensor for tensor in document.tensors},
        constants=constants,
        inputs=document.inputs,
        outputs=document.outputs,
        input_formats=with_mean_images(document.inputs, document.input_formats, entries),
        coded_ends=document.coded_ends,
    )


def _stored_constants(document: DlcDocument, archive: Archive) -> dict[str, Constant]:
    """Return the arrays of the file as they are stored; they are read when first used.

    Codes are not cached and are read again for each use, as kernels cache their own packed form.
    """
    constants, start = {}, archive.params_start
    for array in document.arrays:
        load = partial(_load, archive.path, start, array)
        constants[array.name] = Constant(
            array.name, array.shape, load, array.stored, kept=array.stored == array.dtype
        )
        start += array.bytes
    return constants


def _load(path: Path, start: int, array: StoredArray) -> Array:
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(array.bytes)
    except OSError as error:
        raise HexsimError(
            f"cannot read weight tensor '{array.name}' from '{path}': {error.strerror}"
        ) from None
    if hashlib.sha256(data).hexdigest() != array.sha256:
        raise HexsimError(
            f"weight tensor '{array.name}' in '{path}' is not what was written there (the file is "
            "truncated, or was altered or replaced after it was opened); convert the model again"
        )
    if array.packing is not None:
        return unpack(np.frombuffer(data, np.uint8), array.shape, array.packing, array.stored)
    return np.frombuffer(data, array.stored_dtype).reshape(array.shape)
