"""Writes .dlc files: weights first, array by array, then their description."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexsim.dlc.archive import METADATA, MODEL, create_archive
from hexsim.dlc.checks import check_model, require_type
from hexsim.dlc.document import DlcDocument, Metadata, StoredArray, mean_entries
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.files.atomic_write import replacing, require_ending
from hexsim.graph.consistency import located
from hexsim.graph.ir import Network
from hexsim.quantization.encodings import pack
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides


def write(
    path: str | Path,
    model: Model,
    metadata: Metadata | None = None,
    overrides: Overrides = NO_OVERRIDES,
    *,
    parents: bool = False,
) -> None:
    """Write `model` to `path` atomically; equal models give equal bytes.

    With `parents` the folder is made if it is missing.
    `overrides` are stored for the quantiser; a quantised network has none. Constants with an
    encoding are stored as codes instead of floats, all others bit for bit. Raises HexsimError if a
    weight contains NaN or infinity, `path` cannot be written, or `read` would refuse the file.
    """
    require_ending(path, ".dlc")
    network = model.network
    document = DlcDocument.of(model, (), overrides)
    records = {
        stored.entry: section.record
        for stored, section in zip(document.hta, model.hta, strict=True)
    }
    records |= mean_entries(network.inputs, network.input_formats)
    _require_readable(document, network, records)
    constants = network.constants.values()
    stored = [model.stored(c.name) if model.quantized else c for c in constants]
    packings = {c.name: model.packing(c.name) for c in constants} if model.quantized else {}
    array_descriptions = [
        StoredArray(c.name, c.shape, c.dtype, form.dtype, "", packings.get(c.name))
        for c, form in zip(constants, stored, strict=True)
    ]
    arrays = []
    with replacing(Path(path), parents=parents) as file, create_archive(file) as archive:
        with archive.params(sum(array.bytes for array in array_descriptions)) as stream:
            for array, constant in zip(array_descriptions, stored, strict=True):
                value = constant.finite() if constant.name in network.weights else constant.value()
                if array.packing is not None:
                    value = pack(value, array.packing)
                data = _bytes(value)
                arrays.append(replace(array, sha256=hashlib.sha256(data).hexdigest()))
                stream.write(data)
        archive.add(MODEL, replace(document, arrays=tuple(arrays)).to_bytes())
        archive.add(METADATA, (metadata or Metadata()).to_bytes())
        for entry, record in records.items():
            archive.add(entry, record)


def _require_readable(
    document: DlcDocument, network: Network, records: Mapping[str, bytes]
) -> None:
    """Raise HexsimError for a model that `read` would refuse, before there is a file."""
    try:
        check_model(document, network, records)
        for constant in network.constants.values():
            with located(f"constant '{constant.name}'"):
                require_type(constant.dtype)
    except InvalidDataError as error:
        raise HexsimError(f"network '{network.name}' cannot be written: {error}") from None


def _bytes(array: npt.NDArray[np.generic]) -> memoryview:
    return (
        np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data
    )
