"""Opens an ONNX model, checks it, and converts it to the form that the reader expects.

The result has one graph without local functions, in opset 7 or later, with dense initialisers and
no 16-bit floats. Weights are not read here.

Replaces characters of names in an ONNX model that cannot be printed, when a model is opened.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import onnx.checker
import onnx.inliner

from hexsim.errors import HexsimError
from hexsim.frameworks.file_kinds import file_kind
from hexsim.onnx_io.file.crash_proof import crash_proof, is_plain_model
from hexsim.onnx_io.file.node import EXTENSIONS, standard_domain
from hexsim.onnx_io.file.stored_tensors import as_float32, has_float16
from hexsim.onnx_io.file.versions import OLDEST_OPSET, require_readable, to_oldest_opset
from hexsim.onnx_io.file.well_formed import require_counts, require_well_formed
from hexsim.records import dataclass
from hexsim.texts.text import visible

_NO_NAMES = frozenset({"doc_string", "metadata_props", "external_data"})
"""Texts that are never shown, and locations of weights, which are file names."""

_Message = Any  # of protobuf, of any kind


def with_visible_names(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return `model` with escapes for the characters of its names that cannot be printed.

    If all names are printable, as in nearly all files, the model itself is returned.
    """
    if not any(_hidden(message) for message in _messages(model)):
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for message in _messages(changed):
        for field in _hidden(message):
            value = getattr(message, field)
            if isinstance(value, str):
                setattr(message, field, visible(value))
            else:
                for position, text in enumerate(value):
                    if isinstance(text, str):  # bytes that are not UTF-8 cannot be assigned
                        value[position] = visible(text)
    return changed


def _hidden(message: _Message) -> list[str]:
    texts, _ = _fields(message.DESCRIPTOR)
    return [field for field in texts if _is_hidden(getattr(message, field))]


def _is_hidden(value: Any) -> bool:
    """True for text, or a list of it, with such characters; bytes are refused later."""
    texts = (value,) if isinstance(value, str | bytes) else value
    return any(isinstance(text, str) and not text.isprintable() for text in texts)


def _messages(message: _Message) -> Iterator[_Message]:
    yield message
    _, parts = _fields(message.DESCRIPTOR)
    for field, repeated in parts:
        if repeated:
            for part in getattr(message, field):
                yield from _messages(part)
        elif message.HasField(field):
            yield from _messages(getattr(message, field))


@cache
def _fields(descriptor: _Message) -> tuple[list[str], list[tuple[str, bool]]]:
    """Return the text fields of a message type, and its (message field, is repeated) pairs."""
    fields = [field for field in descriptor.fields if field.name not in _NO_NAMES]
    texts = [field.name for field in fields if field.type == field.TYPE_STRING]
    parts = [field for field in fields if field.type == field.TYPE_MESSAGE]
    return texts, [(field.name, not field.has_presence) for field in parts]


_MOST_VERSION = 2**31 - 1
"""Largest version that onnx can look up, which takes 32 bits; the field in a file has 64."""
_LARGEST = 2**31 - 1
"""Largest size of a protobuf message, in bytes."""


@dataclass(frozen=True)
class OnnxSource:
    """A checked model: `label` names it in messages, external data is beside its file `path`.

    `was_float16` is true if the file had float16 or bfloat16 types.
    """

    label: str
    graph: onnx.GraphProto
    opsets: Mapping[str, int]
    path: Path | None
    ir_version: int
    was_float16: bool = False

    @property
    def opset(self) -> int:
        """Version of the standard operator set, the oldest one if no node is of it."""
        return self.opsets.get("", OLDEST_OPSET)


def open_source(model: onnx.ModelProto | str | Path) -> OnnxSource:
    """Open and check `model`, a ModelProto or the path of an ONNX file.

    Raises HexsimError if it is missing, unreadable, not an ONNX model, empty, or of a version that
    is not supported.
    """
    if isinstance(model, onnx.ModelProto):
        return _source(model, f"model '{visible(str(model.graph.name))}'", None)
    path = Path(model)
    return _source(_load(path), f"'{path}'", path)


def _load(path: Path) -> onnx.ModelProto:
    try:
        if path.exists() and not path.is_file():
            raise HexsimError(f"cannot read '{path}': it is not a file; give an ONNX or .dlc file")
        if path.stat().st_size > _LARGEST:
            raise HexsimError(
                f"'{path}' is larger than 2 GiB, which no ONNX file is; its weights belong in a "
                "file beside it"
            )
        data = path.read_bytes()
    except FileNotFoundError:
        raise HexsimError(f"no such file: '{path}'") from None
    except OSError as error:
        raise HexsimError(f"cannot read '{path}': {error.strerror}") from None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:  # of protobuf
        model.Clear()
    if not _is_whole(model):
        kind = file_kind(data)
        raise HexsimError(_no_model(f"'{path}'") if kind is None else f"'{path}' is {kind}")
    return model


def _is_whole(model: onnx.ModelProto) -> bool:
    return bool(model.ir_version and model.HasField("graph"))


def _no_model(label: str) -> str:
    return f"{label} is not an ONNX model or is truncated; export or download it again"


def _source(model: onnx.ModelProto, label: str, path: Path | None) -> OnnxSource:
    if not _is_whole(model):
        raise HexsimError(_no_model(label))
    if not model.graph.node:
        raise HexsimError(f"{label} holds a graph without nodes; there is nothing to run")
    require_counts(model, label)
    model = with_visible_names(model)
    require_readable(model, label)
    require_well_formed(model, label)
    if len(model.functions):
        model = _inlined(model, label)
    opsets = {
        standard_domain(item.domain): min(item.version, _MOST_VERSION)
        for item in model.opset_import
    }
    opsets.setdefault(EXTENSIONS, 1)
    source = OnnxSource(label, model.graph, opsets, path, model.ir_version)
    if source.opset < OLDEST_OPSET:
        graph = to_oldest_opset(model, label).graph
        source = dataclasses.replace(source, graph=graph, opsets={**opsets, "": OLDEST_OPSET})
    if not has_float16(source.graph):
        return source
    return dataclasses.replace(source, graph=as_float32(source.graph), was_float16=True)


def _inlined(model: onnx.ModelProto, label: str) -> onnx.ModelProto:
    try:
        inline = crash_proof(onnx.inliner.inline_local_functions, plain=is_plain_model(model))
        return inline(model)
    except (RuntimeError, ValueError, onnx.checker.ValidationError):
        raise HexsimError(
            f"{label} has functions that cannot be put in the place of their calls; export it "
            "without functions"
        ) from None
