"""Opens an ONNX model, checks it, and converts it to the form that the reader expects.

The result has one graph without local functions, in opset 7 or later, with dense initialisers and
no 16-bit floats. Weights are not read here.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx.checker
import onnx.inliner

from hexsim.errors import HexsimError
from hexsim.frameworks.file_kinds import file_kind
from hexsim.onnx_io.file.counts import require_counts
from hexsim.onnx_io.file.crash_proof import crash_proof, is_plain_model
from hexsim.onnx_io.file.float16 import as_float32, has_float16
from hexsim.onnx_io.file.node import EXTENSIONS, standard_domain
from hexsim.onnx_io.file.old_opsets import OLDEST_OPSET, to_oldest_opset
from hexsim.onnx_io.file.versions import require_readable
from hexsim.onnx_io.file.visible_names import with_visible_names
from hexsim.onnx_io.file.well_formed import require_well_formed
from hexsim.texts.names import visible

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
