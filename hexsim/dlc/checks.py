"""The boundary: what a .dlc file says becomes a model that nobody below has to doubt.

1. Every document has its schema: fields, types, domains (hexsim.dlc.trees).
2. The network holds together (hexsim.graph.consistency), and so does every encoding.
3. Arrays are those that the network names, of known types, as large as the weights of the file.
4. What is said by name of tensors, constants and layers is said of ones that exist.
5. HTA sections are runs of layers, each in an entry of its own, and no entry is left over.
6. The record of a section is for its chip and its layers (hexsim.dlc.hta_records).

Not judged is what arrays hold, which their digests do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from hexsim.dlc.document import Document, Encodings, StoredArray
from hexsim.dlc.hta_records import require_record
from hexsim.errors import InvalidDataError
from hexsim.graph import domains
from hexsim.graph.consistency import told
from hexsim.graph.ir import MOST_ELEMENTS, Network
from hexsim.layers import Opaque
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.evidence import Evidence
from hexsim.texts.text import shortened

_KINDS = "biufc"
"""Of element types whose arrays are bytes."""
_ACTIVATION_BITS = (8, 16)


def check_arrays(document: Document, size: int) -> None:
    """Raise InvalidDataError unless the arrays are possible and take `size` bytes together."""
    require_distinct("tensor", (tensor.name for tensor in document.tensors))
    require_distinct("array", (array.name for array in document.arrays))
    for array in document.arrays:
        with told(f"array '{array.name}'"):
            _check_array(array, document.encodings)
    described = sum(array.bytes for array in document.arrays)
    if described != size:
        raise InvalidDataError(
            f"its arrays take {described} bytes, and it has {size} bytes of weights"
        )


def check_model(document: Document, network: Network, records: Mapping[str, bytes]) -> None:
    """Raise InvalidDataError unless network, encodings and sections hold together.

    `records` are the sections by the names of their entries.
    """
    network.check()
    for layer in network.layers:
        if isinstance(layer, Opaque):
            from hexsim.onnx_io.write.opaque_check import require_node  # the others need no onnx

            with told(f"layer '{layer.name}' (Opaque)"):
                require_node(layer)
    _check_sections(document, network, records)
    if document.encodings is None:
        if document.hta:
            raise InvalidDataError("it has HTA sections and no encodings")
    else:
        _check_encodings(document.encodings, network)
    with told("its overrides"):
        domains.require(document.overrides)


def require_distinct(what: str, names: Iterable[str]) -> None:
    """Raise InvalidDataError if a name is there twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidDataError(f"{what} '{name}' is there twice")
        seen.add(name)


def _check_array(array: StoredArray, encodings: Encodings | None) -> None:
    for name in (array.dtype, array.stored):
        _require_type(name)
    if array.elements > MOST_ELEMENTS:
        raise InvalidDataError(f"shape {list(array.shape)} has more than {MOST_ELEMENTS} elements")
    if len(array.sha256) != 64 or not set(array.sha256) <= set("0123456789abcdef"):
        raise InvalidDataError(f"its digest is '{array.sha256[:70]}', which is no SHA-256")
    encoding = None if encodings is None else encodings.of(array.name)
    half = encodings is not None and encodings.floats.get(array.name) == 16
    codes = None if encodings is None else encodings.of_codes(array.name)
    stored = codes.dtype.name if codes else "float16" if half else array.dtype
    if array.stored != stored:
        raise InvalidDataError(f"it is stored as {array.stored}; expected {stored}")
    if (encoding or half) and np.dtype(array.dtype).kind != "f":
        raise InvalidDataError(f"it has an encoding, and elements of type {array.dtype}")
    if array.packing is not None:
        runs = "channel" if isinstance(codes, AxisEncoding) else "tensor"
        if codes is None or codes.bitwidth != 4 or array.packing != runs:
            raise InvalidDataError(
                f"it is packed by {array.packing}, which its encoding does not allow"
            )
        if 0 in array.shape:
            raise InvalidDataError("it is packed, and empty")
    if isinstance(encoding, AxisEncoding):
        channels = array.shape[-1] if array.shape else 0
        if len(encoding.channels) != channels:
            raise InvalidDataError(f"{len(encoding.channels)} encodings for {channels} channels")


def _require_type(name: str) -> None:
    """Raise InvalidDataError unless numpy knows an element type by that very name."""
    try:
        known = np.dtype(name)
    except TypeError:
        known = None
    if known is None or known.name != name or known.kind not in _KINDS:
        raise InvalidDataError(f"elements of the unknown type '{shortened(name)}'")


def _check_encodings(encodings: Encodings, network: Network) -> None:
    for what, given, known in (
        ("activation", encodings.activations, {**network.tensors, **network.constants}),
        ("parameter", encodings.parameters, network.constants),
        ("float", encodings.floats, {**network.tensors, **network.constants}),
    ):
        _require_known(what, given, known)
    for name, encoding in (*encodings.activations.items(), *encodings.parameters.items()):
        with told(f"the encoding of '{name}'"):
            domains.require(encoding)
    for name, encoding in encodings.activations.items():
        if encoding.symmetric or encoding.bitwidth not in _ACTIVATION_BITS:
            raise InvalidDataError(
                f"the encoding of activation '{name}' is not asymmetric of 8 or 16 bits"
            )
        if name in encodings.parameters:
            raise InvalidDataError(f"'{name}' has an encoding as activation and one as parameter")
    for name in encodings.floats:
        if encodings.of(name):
            raise InvalidDataError(f"'{name}' has an encoding, and is said to stay float")
    _check_evidence(encodings.evidence, network)


def _check_evidence(evidence: Evidence, network: Network) -> None:
    known = {**network.tensors, **network.constants}
    with told("what calibration counted"):
        domains.require(evidence)
        named = [counted.tensor for counted in evidence.survivals]
        named += [seen.tensor for seen in evidence.unused_ranges]
        for name in (*named, *(counted.weight for counted in evidence.dead)):
            if name not in known:
                raise InvalidDataError(f"'{name}' is nothing in the network")


def _require_known(what: str, given: Mapping[str, object], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise InvalidDataError(
                f"the {what} encoding of '{name}' belongs to nothing in the network"
            )


def _check_sections(document: Document, network: Network, records: Mapping[str, bytes]) -> None:
    places = {layer.name: at for at, layer in enumerate(network.layers)}
    taken: set[tuple[str, str]] = set()
    require_distinct("HTA entry", (section.entry for section in document.hta))
    for section in document.hta:
        with told(f"HTA section '{section.entry}'"):
            if section.entry not in records:
                raise InvalidDataError("there is no such entry")
            for name in section.layers:
                if name not in places:
                    raise InvalidDataError(f"it has the unknown layer '{name}'")
                if (section.chip, name) in taken:
                    raise InvalidDataError(f"layer '{name}' is in two places")
                taken.add((section.chip, name))
            at = [places[name] for name in section.layers]
            if not at or at != list(range(at[0], at[0] + len(at))):
                raise InvalidDataError("its layers are no run of layers of the network")
            require_record(records[section.entry], section.chip, section.layers)
    for entry in sorted({*records} - {section.entry for section in document.hta}):
        raise InvalidDataError(f"the entry '{entry}' belongs to no HTA section")
