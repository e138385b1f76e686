"""Converts files of PyTorch, exported programs (.pt2) and TorchScript, by PyTorch's exporters.

An exported program (.pt2) is checked to contain no code, before PyTorch reads it. PyTorch may
unpickle parts of such a file, load libraries in it, evaluate its expressions for sizes, and call
the functions that its nodes name. Files that torch.export.save writes only need tensors in pickles
of a few known classes, and operators of `torch.ops`.

Rules

1. No entry is compiled code, or an object that is neither a tensor nor a number.
2. A pickle makes tensors, their storages and collections, and calls nothing else.
3. A node calls an operator of `torch.ops`, or an operation on sizes.
4. A size is an expression of names, numbers, operators and functions of sympy.

TorchScript is not checked, since PyTorch reads it without Python.

Not supported: pickled modules and weights, since reading them would run code in them.
"""

import ast
import json
import pickletools
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from hexsim.errors import HexsimError, InvalidDataError, spelled
from hexsim.frameworks.archives import reading_archive, require_plain_archive
from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.foreign import Dims, Foreign
from hexsim.texts.text import MOST_BYTES, decoded, shortened, visible
from hexsim.texts.trees import parse_json

_COMPILED = re.compile(r"(^|/)data/aotinductor/|\.(so|dll|dylib|pyd|o|cubin|cpp|py|pyc)$")
_OBJECTS = re.compile(r"(^|/)(custom|opaque)_obj_\d+$")
_MODEL = re.compile(r"(^|/)models/")
"""The folder of descriptions of networks, which may have any name."""
_ARCHIVE = b"PK\x03\x04"
_LONGEST = 10_000
"""Most characters of an expression; the expression of a size has a few tens."""
_MAKES = re.compile(
    r"collections OrderedDict"
    r"|torch(\.storage)? [A-Z]\w*Storage"
    r"|torch (Size|device|dtype|Tensor|bfloat16|float\d+|int\d+|uint\d+|bool|complex\d+)"
    r"|torch\._utils _rebuild_(tensor|tensor_v2|parameter)"
    r"|torch\.nn\.parameter Parameter"
    r"|torch\.serialization _get_layout"
)
"""Module and name of the classes and functions that a pickle may call."""
_UNSEEN = frozenset({"STACK_GLOBAL", "INST", "OBJ", "EXT1", "EXT2", "EXT4"})
"""Opcodes that name a callable which is not their argument; PyTorch does not write them."""
_TARGET = re.compile(
    r"torch\.ops\.(?!__)\w+\.\w+(\.\w+)?"
    r"|(_operator|operator)\.(add|and_|eq|floordiv|ge|getitem|gt|le|lt|mod|mul|ne|neg|not_|or_|pos"
    r"|pow|sub|truediv)"
    r"|math\.(ceil|floor|trunc|sqrt|cos|cosh|sin|sinh|tan|tanh|acos|asin|atan|log2)"
    r"|torch\._?sym_\w+"
)
"""Functions that a node may call."""
_SAFE = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.operator, ast.unaryop),
    *(ast.boolop, ast.cmpop, ast.Load, ast.IfExp),
)
_METHODS = ("size", "stride", "storage_offset")
"""Methods of a tensor that a guard on sizes calls."""


def require_no_code(path: Path) -> None:
    """Raise HexsimError unless the program at `path` contains data only, and no code."""
    require_plain_archive(path)
    try:
        with reading_archive():
            archive = zipfile.ZipFile(path)
        with archive:
            fault = next(_faults(archive), None)
    except InvalidDataError as error:
        fault = str(error)
    if fault is not None:
        raise HexsimError(
            f"'{path}' is an exported program of PyTorch, and reading it might run code in it: "
            f"{fault}; save the network again with torch.export.save"
        )


def _faults(archive: zipfile.ZipFile) -> Iterator[str]:
    for entry in archive.infolist():
        path, name = entry.filename, visible(entry.filename)
        if _COMPILED.search(path):
            yield f"entry '{name}' is code"
        elif _OBJECTS.search(path):
            yield f"entry '{name}' is a pickled object"
        elif path.endswith(".json") or _MODEL.search(path):
            for fault in _faults_of_description(_content(archive, entry), f"entry '{name}'"):
                yield f"entry '{name}' {fault}"
        elif path.endswith(".pt"):
            for fault in _faults_of_tensors(archive, entry):
                yield f"entry '{name}' {fault}"


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.file_size > MOST_BYTES:
        raise InvalidDataError(f"entry '{visible(entry.filename)}' is too large for a description")
    with reading_archive():
        return archive.read(entry)


def _faults_of_description(data: bytes, where: str) -> Iterator[str]:
    """Yield the parts of a JSON text that may make PyTorch run code."""
    pending = [parse_json(decoded(data, where), where, as_written=True)]
    while pending:
        node = pending.pop()
        pending += node.values() if isinstance(node, dict) else node
        pending = [item for item in pending if isinstance(item, dict | list)]
        if not isinstance(node, dict):
            continue
        if node.get("use_pickle"):
            yield "mentions pickled tensors"
        target = node.get("target")
        if isinstance(target, str) and not _TARGET.fullmatch(target):
            yield f"calls '{shortened(visible(target))}'"
        guards = node.get("guards_code")
        for text in (node.get("expr_str"), *(guards if isinstance(guards, list) else ())):
            if isinstance(text, str) and not _is_expression(text):
                yield f"has the size '{shortened(visible(text))}'"


def _is_expression(text: str) -> bool:
    """True for an expression that can be evaluated without running other code."""
    try:
        return len(text) < _LONGEST and all(map(_is_part, ast.walk(ast.parse(text, mode="eval"))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _is_part(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) or (
                isinstance(value, str) and value.isidentifier() and not value.startswith("_")
            )
        case ast.Name(id=name):
            return not name.startswith("_")
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return name[:1].isupper()  # as functions of sympy are; those of Python are not
        case ast.Call(func=ast.Attribute(), keywords=[]):
            return True
        case ast.Attribute(attr=name):
            return name in _METHODS
        case ast.Subscript():
            return True
    return isinstance(node, _SAFE)


def _faults_of_tensors(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[str]:
    """Yield the parts of a file of torch.save that are not tensors."""
    with reading_archive(), archive.open(entry) as file:
        is_archive = file.read(len(_ARCHIVE)) == _ARCHIVE
    if not is_archive:
        yield "is a Python pickle"
        return
    for data in _pickles(archive, entry):
        for opcode, argument in _named_in(data):
            if opcode in _UNSEEN:
                yield "holds a pickle that PyTorch did not write"
            elif not _MAKES.fullmatch(argument):
                yield f"holds a pickle that calls '{shortened(visible(argument))}'"


def _pickles(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the pickles in an entry that is itself an archive."""
    with ExitStack() as stack:
        with reading_archive():
            inner = stack.enter_context(zipfile.ZipFile(stack.enter_context(archive.open(entry))))
        for part in inner.infolist():
            if part.filename.lower().endswith(".pkl"):
                yield _content(inner, part)


def _named_in(data: bytes) -> list[tuple[str, str]]:
    """Return the opcodes of a pickle that name a callable, with their arguments."""
    try:
        calls = {
            (opcode.name, str(argument))
            for opcode, argument, _ in pickletools.genops(data)
            if opcode.name in _UNSEEN or opcode.name == "GLOBAL"
        }
    except Exception as error:  # whatever the decoder of an argument raises
        raise InvalidDataError("a pickle in it is damaged") from error
    return sorted(calls)


_SCRIPT = str(Path(__file__).parent / "_torch_script.py")
_PROGRAM = str(Path(__file__).parent / "_torch_program.py")
_NAME = "PyTorch's exporter"
_FLOORS = (("torch", "2.9"),)
"""In earlier versions, weights_only was not safe (CVE-2025-32434, in 2.5 and earlier)."""
SCRIPT = Exporter(_NAME, "pytorch", ("torch", "onnxscript"), (_SCRIPT,), _FLOORS)
PROGRAM = Exporter(_NAME, "pytorch", ("torch", "onnxscript"), (_PROGRAM,), _FLOORS)


def read_program(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a program that torch.export.save has written."""
    require_no_code(path)
    PROGRAM.require(path, "an exported program of PyTorch")
    model = PROGRAM.run(path, [str(path.absolute())], "")
    return Foreign(model, input_dims=dims, output_names=output_names)


def read_script(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a TorchScript module; `dims` has names and shapes of its inputs, in order."""
    if not dims:
        raise HexsimError(
            f"'{path}' is a TorchScript module, which does not say what its inputs look like; give "
            f"each with {spelled('input_dims', {'NAME': (1, 3, 224, 224)})}, in order"
        )
    require_plain_archive(path)
    SCRIPT.require(path, "a TorchScript module")
    shapes = json.dumps({name: list(shape) for name, shape in dims.items()})
    return Foreign(SCRIPT.run(path, [str(path.absolute()), shapes], ""), output_names=output_names)
