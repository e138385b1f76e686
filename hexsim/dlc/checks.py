"""Checks a .dlc file completely, so that code behind this boundary can rely on the model.

1. Every document follows its schema: fields, types, domains (hexsim.dlc.trees).
2. The network is consistent (hexsim.graph.consistency), and so is every encoding.
3. Arrays belong to the network, have known types, and together have the size of the weights.
4. All names refer to existing tensors, constants and layers.
5. HTA sections are runs of layers, each in an entry of its own; other entries are mean images.
6. The record of a section has the format that is written here, is for the section's chip, and has
   commands for the section's layers, each once, in their order. Numbers in commands are whole and
   not negative, and a command waits for an earlier layer at most.

Left out: the values of arrays, which their digests protect; and whether the compiler would make
these commands. A run compiles the section again and uses no commands of the file.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from hexsim.dlc.document import DlcDocument, Encodings, StoredArray, mean_entries
from hexsim.errors import InvalidDataError, spelled
from hexsim.graph import domains
from hexsim.graph.consistency import located
from hexsim.graph.domains import NUMBER_TYPES
from hexsim.graph.ir import MOST_ELEMENTS, Network
from hexsim.layers import Convert, Opaque
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.evidence import Evidence
from hexsim.texts.text import decoded, shortened
from hexsim.texts.trees import parse_json

_FORMAT = 1
"""The format of `hexsim.hta.command_list`, which this room must not import."""
_NUMBERS = 4
"""Numbers of a command: bytes in, clocks, bytes out, and the layer that it waits for."""


def require_record(record: bytes, chip: str, layers: Sequence[str]) -> None:
    """Raise InvalidDataError, whose text is a clause, unless `record` fits chip and layers."""
    subject = "its record"
    tree = parse_json(decoded(record, subject), subject)
    if not isinstance(tree, dict) or "format" not in tree:
        raise InvalidDataError(f"{subject} is no list of commands")
    if tree["format"] != _FORMAT:
        raise InvalidDataError(
            f"{subject} has format {tree['format']}, this hexsim reads {_FORMAT}; quantise the "
            f"network again with {spelled('enable_hta')}"
        )
    if tree.get("chip") != chip:
        raise InvalidDataError(
            f"{subject} is for chip '{tree.get('chip')}', the section for '{chip}'"
        )
    parts = tree.get("layers")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidDataError(f"{subject} is no list of commands")
    names = [part.get("layer") for part in parts]
    if names != list(layers):
        raise InvalidDataError(
            f"{subject} is that of other layers: {_first_difference(names, layers)}"
        )
    for at, part in enumerate(parts):
        if not _are_commands(part.get("commands"), at) or not _is_count(part.get("array_clocks")):
            raise InvalidDataError(f"{subject} has no possible commands for layer '{layers[at]}'")


def _first_difference(names: Sequence[Any], layers: Sequence[str]) -> str:
    pairs = zip(names, layers, strict=False)
    at = next((at for at, (name, layer) in enumerate(pairs) if name != layer), None)
    if at is None:
        return f"it has {len(names)}, the section {len(layers)}"
    return f"layer {at} is '{names[at]}' there, and '{layers[at]}' in the section"


def _are_commands(commands: Any, at: int) -> bool:
    """Return whether these are possible commands of layer `at` of a section."""
    return isinstance(commands, list) and all(
        isinstance(command, list)
        and len(command) == _NUMBERS
        and all(map(_is_count, command[:-1]))
        and type(command[-1]) is int
        and -1 <= command[-1] < at
        for command in commands
    )


def _is_count(number: Any) -> bool:
    return type(number) is int and number >= 0


_ACTIVATION_BITS = (8, 16)


def check_arrays(document: DlcDocument, size: int) -> None:
    """Raise InvalidDataError unless the arrays are possible and take `size` bytes together."""
    require_distinct("tensor", (tensor.name for tensor in document.tensors))
    require_distinct("array", (array.name for array in document.arrays))
    for array in document.arrays:
        with located(f"array '{array.name}'"):
            _check_array(array, document.encodings)
    described = sum(array.bytes for array in document.arrays)
    if described != size:
        raise InvalidDataError(
            f"its arrays take {described} bytes, and it has {size} bytes of weights"
        )


def check_model(document: DlcDocument, network: Network, records: Mapping[str, bytes]) -> None:
    """Raise InvalidDataError unless network, encodings and sections are consistent.

    `records` are the sections and mean images by the names of their entries.
    """
    network.check()
    for layer in network.layers:
        if isinstance(layer, Opaque):
            from hexsim.onnx_io.write.emitters.opaque import require_node  # the others need no onnx

            with located(f"layer '{layer.name}' (Opaque)"):
                require_node(layer)
    _check_sections(document, network, records)
    if document.encodings is None:
        if document.hta:
            raise InvalidDataError("it has HTA sections and no encodings")
    else:
        _check_encodings(document.encodings, network)
    require_distinct("prepared graph", map(str, document.graphs))
    with located("its overrides"):
        domains.require(document.overrides)
        for name, factors in document.overrides.folded.items():
            constant = network.constants.get(name)
            if constant is None or len(factors) not in (0, 1, *constant.shape[-1:]):
                raise InvalidDataError(f"{len(factors)} factors of '{name}', which has others")


def require_distinct(kind: str, names: Iterable[str]) -> None:
    """Raise InvalidDataError if a name occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidDataError(f"{kind} '{name}' is there twice")
        seen.add(name)


def _check_array(array: StoredArray, encodings: Encodings | None) -> None:
    for name in (array.dtype, array.stored):
        require_type(name)
    if array.elements > MOST_ELEMENTS:
        raise InvalidDataError(f"shape {list(array.shape)} has more than {MOST_ELEMENTS} elements")
    if len(array.sha256) != 64 or not set(array.sha256) <= set("0123456789abcdef"):
        raise InvalidDataError(f"its digest is '{array.sha256[:70]}', which is no SHA-256")
    encoding = None if encodings is None else encodings.of(array.name)
    is_float16 = encodings is not None and encodings.floats.get(array.name) == 16
    codes = None if encodings is None else encodings.of_codes(array.name)
    stored = codes.dtype.name if codes else "float16" if is_float16 else array.dtype
    if array.stored != stored:
        raise InvalidDataError(f"it is stored as {array.stored}; expected {stored}")
    if (encoding or is_float16) and NUMBER_TYPES[array.dtype].kind != "f":
        raise InvalidDataError(f"it has an encoding, and elements of type {array.dtype}")
    if array.packing is not None:
        expected = "channel" if isinstance(codes, AxisEncoding) else "tensor"
        if codes is None or codes.bitwidth != 4 or array.packing != expected:
            raise InvalidDataError(
                f"it is packed by {array.packing}, which its encoding does not allow"
            )
        if 0 in array.shape:
            raise InvalidDataError("it is packed, and empty")
    if isinstance(encoding, AxisEncoding):
        channels = array.shape[-1] if array.shape else 0
        if len(encoding.channels) != channels:
            raise InvalidDataError(f"{len(encoding.channels)} encodings for {channels} channels")


def require_type(name: str) -> None:
    """Raise InvalidDataError unless `name` is that of an element type of numpy's own."""
    if name not in NUMBER_TYPES:
        raise InvalidDataError(
            f"elements of type '{shortened(name)}', which a .dlc file does not hold"
        )


def _check_encodings(encodings: Encodings, network: Network) -> None:
    for kind, names, known in (
        ("activation", encodings.activations, {**network.tensors, **network.constants}),
        ("parameter", encodings.parameters, network.constants),
        ("float", encodings.floats, {**network.tensors, **network.constants}),
    ):
        _require_known(kind, names, known)
    for name, encoding in (*encodings.activations.items(), *encodings.parameters.items()):
        with located(f"the encoding of '{name}'"):
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
    for layer in network.layers:
        if isinstance(layer, Convert) and {layer.inputs[0], layer.output} & set(encodings.floats):
            _check_converted(layer, encodings)
    _check_evidence(encodings.evidence, network)


def _check_converted(layer: Convert, encodings: Encodings) -> None:
    for name in (layer.inputs[0], layer.output):
        if name not in encodings.floats and name not in encodings.activations:
            raise InvalidDataError(
                f"layer '{layer.name}' converts '{name}', which has no encoding and is not said to "
                "stay float"
            )


def _check_evidence(evidence: Evidence, network: Network) -> None:
    known = {**network.tensors, **network.constants}
    with located("what calibration counted"):
        domains.require(evidence)
        names = [counted.tensor for counted in evidence.survivals]
        names += [unused.tensor for unused in evidence.unused_ranges]
        for name in (*names, *(counted.weight for counted in evidence.dead)):
            if name not in known:
                raise InvalidDataError(f"'{name}' is nothing in the network")


def _require_known(kind: str, names: Mapping[str, object], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise InvalidDataError(
                f"the {kind} encoding of '{name}' belongs to nothing in the network"
            )


def _check_sections(document: DlcDocument, network: Network, records: Mapping[str, bytes]) -> None:
    positions = {layer.name: index for index, layer in enumerate(network.layers)}
    assigned: set[tuple[str, str]] = set()
    require_distinct("HTA entry", (section.entry for section in document.hta))
    for section in document.hta:
        with located(f"HTA section '{section.entry}'"):
            if section.entry not in records:
                raise InvalidDataError("there is no such entry")
            for name in section.layers:
                if name not in positions:
                    raise InvalidDataError(f"it has the unknown layer '{name}'")
                if (section.chip, name) in assigned:
                    raise InvalidDataError(f"layer '{name}' is in two places")
                assigned.add((section.chip, name))
            indices = [positions[name] for name in section.layers]
            if not indices or indices != list(range(indices[0], indices[0] + len(indices))):
                raise InvalidDataError("its layers are no run of layers of the network")
            require_record(records[section.entry], section.chip, section.layers)
    means = dict(mean_entries(network.inputs, network.input_formats))
    for entry in sorted({*records} - {section.entry for section in document.hta} - means.keys()):
        raise InvalidDataError(f"the entry '{entry}' belongs to no HTA section and no mean image")
