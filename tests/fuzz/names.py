"""Networks whose names are hostile, as ONNX and .dlc files: what comes out, and what is written.

A case is told by its number alone.
"""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

import hexsim
from benchmarks.conformity_commands import run
from hexsim import dlc
from hexsim.errors import HexsimError
from hexsim.texts.text import visible
from tests.fuzz.containers import Parts, opened, sealed
from tests.fuzz.watch import watched

TENSORS, LAYERS = 7, 4
"""Names of tensors (two inputs, two between, two outputs, a weight), and of layers."""
COUNT = TENSORS + LAYERS + 1
"""All names, with that of the graph."""
SHAPE = (1, 4, 3)
MARKS = tuple(f"MARK{position:02}." for position in range(COUNT))
"""Names that stand for others until these are put in their places."""
POOL: tuple[bytes, ...] = (
    *(b"", b".", b"..", b"../x", b"../../kept/a", b"/", b"//", b"/etc/x", b"a/b", b"a//b", b"a/"),
    *(b"./a", b"a/../b", b"a\\b", b"..\\x", b"C:\\x", b"C:x", b"a:b", b"~", b"~/x", b"a.raw/b"),
    *(b"a", b"A", b"a.raw", b"a.RAW", b"a ", b" a", b"a.", b"CON", b"nul", b"com1.x", b"aux/b"),
    *("\u00e9".encode(), "e\u0301".encode(), "\u00df".encode(), b"ss", "\u017f".encode(), b"s"),
    *("\u202egnp".encode(), "\u2066a".encode(), "\u200ba".encode(), "\ufeffa".encode()),
    *(
        b"\x1b[2J",
        b"\\x1b[2J",
        b"a\nb",
        b"a\\nb",
        b"a\rb",
        b"a\tb",
        b"a\0b",
        b"\x7f",
        b"\xc2\x9b1m",
    ),
    *(b"\xed\xa0\x80", b"\xff\xfe", b"\xf5\x80\x80\x80", b"\xc0\x80", b"\xf0\x90\x80\x80"),
    *(b"n" * 300, b"n" * 5000, b"d/" * 3000 + b"x", "\u00e9".encode() * 200, b"n" * 251),
    *(
        b"=cmd()",
        b"-1",
        b"--help",
        b"@x",
        b"a,b",
        b'a"b',
        b"a'b",
        b"a;b",
        b"a:=b",
        b"#a",
        b"%a",
        b"a b",
    ),
    *(b"{x}", b"%s", b"[red]", b"<script>", b"$(x)", b"`x`", b"nan", b"null", b"0", b"Result_0"),
)
"""What a name may be, as bytes; some are no text."""
COMMANDS = {
    "info": "info {m} --csv {o}.csv --json {o}.json",
    "convert": "convert {m} -o {o}.dlc",
    "quantize": "quantize {m} --input-list list.txt -o {o}.dlc",
    "run": "run --chip sd835 {m} --runtime cpu --input-list list.txt -o {o}",
    "debug": "run --chip sd835 "
    "{m} --runtime dsp --input-list list.txt -o {o} --debug --csv {o}.csv",
    "bench": "bench --chip sd835 --model {m} --csv {o}.csv --json {o}.json --trace {o}.trace.json",
    "profile": "profile --chip sd835 {m} --quantize --csv {o}.csv --json {o}.json",
    "partition": "partition --chip sd855 {m} --json {o}.json --graph {o}.svg",
    "view": "view {m} -o {o}.html",
}
"""Every one but `run` writes files called {o} with an ending; that writes into a folder {o}."""


def names_of(number: int) -> tuple[bytes, ...]:
    """The names of a case: a few are hostile, or all."""
    rng = random.Random(number)
    names = [f"name{position}".encode() for position in range(COUNT)]
    for position in rng.sample(range(COUNT), rng.choice((1, 2, 2, 4, COUNT))):
        names[position] = rng.choice(POOL)
        if rng.random() < 0.2:
            names[position] += rng.choice((b"/", b"/../", b"\\", b".", b" ")) + rng.choice(POOL)
    return tuple(names)


def means_one_network(names: tuple[bytes, ...]) -> bool:
    """True if no tensor or layer is without a name, or has that of another."""
    shown = [_text(name) for name in names[:-1]]
    tensors, layers = shown[:TENSORS], shown[TENSORS:]
    return (
        None not in shown
        and "" not in tensors
        and all(len({*group}) == len(group) for group in (tensors, [*filter(None, layers)]))
    )


def _text(name: bytes) -> str | None:
    try:
        return visible(name.decode())
    except UnicodeDecodeError:
        return None


def onnx_file(names: tuple[bytes, ...]) -> bytes:
    """The file of y = sin(a + b) * w and z = -(a + b), with any bytes as names."""
    a, b, total, sine, y, z, w, *layers, title = names
    made = helper.make_model(
        onnx.GraphProto(), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    graph = made.graph
    _put(graph, 2, title)
    operands = ((a, b), (total,), (sine, w), (total,))
    for operator, inputs, output, layer in zip(
        ("Add", "Sin", "Mul", "Neg"), operands, (total, sine, y, z), layers, strict=True
    ):
        node = graph.node.add(op_type=operator)
        for field, name in (*((1, name) for name in inputs), (2, output), (3, layer)):
            _put(node, field, name)
    for ends, pair in ((graph.input, (a, b)), (graph.output, (y, z))):
        for name in pair:
            ends.append(helper.make_tensor_value_info("", 1, SHAPE))
            _put(ends[-1], 1, name)
    graph.initializer.append(numpy_helper.from_array(weight(), ""))
    _put(graph.initializer[0], 8, w)
    return bytes(made.SerializeToString())


def _put(message: Any, field: int, name: bytes) -> None:
    """Set a text field, or add to it, without the check that it is text."""
    length = bytes((len(name) & 0x7F | 0x80, len(name) >> 7 & 0x7F | 0x80, len(name) >> 14))
    message.MergeFromString(bytes((field << 3 | 2,)) + length + name)


@cache
def _plain(quantized: bool) -> Parts:
    """The network as the parts of a .dlc file, with marks as names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.onnx"
        path.write_bytes(onnx_file(tuple(mark.encode() for mark in MARKS)))
        model = hexsim.load(path)
        if quantized:
            model = hexsim.quantize(model, [dict(zip(MARKS, feeds(), strict=False))])
        dlc.write(Path(folder) / "m.dlc", model)
        return opened(Path(folder) / "m.dlc")


def dlc_file(names: tuple[bytes, ...], path: Path, *, quantized: bool) -> None:
    """Write the .dlc file of the same network; bytes that are no text become lone surrogates."""
    parts = _plain(quantized)
    text = json.dumps(parts.model)
    for mark, name in zip(MARKS, names, strict=True):
        text = text.replace(mark, json.dumps(name.decode("utf-8", "surrogateescape"))[1:-1])
    sealed(replace(parts, model=text.encode()), path)


def weight() -> np.ndarray:
    return np.linspace(1, 2, 3, dtype=np.float32)


def feeds() -> tuple[np.ndarray, np.ndarray]:
    values = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, *SHAPE)
    return values[0], values[1]


def expected() -> tuple[np.ndarray, np.ndarray]:
    total = sum(feeds())
    return np.sin(total) * weight(), -total


def judged(number: int, folder: Path) -> str:
    """The sentences by which the entry points refused the names of a case, or nothing.

    Raises AssertionError for a wrong answer, a file in a wrong place and what is no sentence.
    """
    rng = random.Random(number)
    names = names_of(number)
    kind = rng.choice(("m.onnx", "m.onnx", "float.dlc", "coded.dlc"))
    work = folder / str(number) / "work"
    _prepare(work)
    if kind == "m.onnx":
        (work / kind).write_bytes(onnx_file(names))
    else:
        dlc_file(names, work / kind, quantized=kind == "coded.dlc")
    with contextlib.chdir(work), np.errstate(all="ignore"), watched(120):
        said = [_library(Path(kind), exact=kind != "coded.dlc")]
        if said == [""]:
            for command in rng.sample(list(COMMANDS), 2):
                said.append(_command(COMMANDS[command], kind, work))
        elif kind == "m.onnx" and means_one_network(names):
            raise AssertionError(f"{number}: the names are fine, but {said[0]}")
        else:
            said.append(_command(COMMANDS[rng.choice(list(COMMANDS))], kind, work))
    wrong = [sentence for sentence in said if not sentence.isprintable() or len(sentence) > 2000]
    assert not wrong, (number, wrong)
    return " || ".join(filter(None, said))


def _prepare(work: Path) -> None:
    """A folder to work in, beside one whose files must stay as they are."""
    work.mkdir(parents=True)
    (work.parent / "kept").mkdir()
    for file in (work / "a.raw", work / "a", work.parent / "kept" / "a.raw"):
        file.write_text("kept")
    for position, feed in enumerate(feeds()):
        feed.tofile(work / f"{position}.in")
    (work / "list.txt").write_text("0.in 1.in\n")


def _library(path: Path, *, exact: bool) -> str:
    """Refused in a sentence, or the right values, from the file and from a copy of it."""
    try:
        model = hexsim.load(path)
        dlc.write("copy.dlc", model)
        for read in (model, hexsim.load("copy.dlc")):
            if len(read.network.inputs) < 2:  # a weight with an input's name is its value
                return ""
            inputs = dict(zip(read.network.inputs, feeds(), strict=True))
            values = hexsim.simulate(read, runtime="cpu", inputs=inputs, chip="sd835").outputs
            assert values is not None
            assert tuple(values) == read.network.outputs == model.network.outputs
            for value, right in zip(values.values(), expected(), strict=True):
                np.testing.assert_allclose(value, right, atol=1e-6 if exact else 0.1)
    except HexsimError as error:
        return str(error)
    finally:
        Path("copy.dlc").unlink(missing_ok=True)
    return ""


def _command(line: str, model: str, work: Path) -> str:
    """What a command says; it writes where it is told to, all or nothing."""
    before = _files(work.parent)
    effect, said = run(line.format(m=model, o="o"))
    after = _files(work.parent)
    assert effect != "failed", f"{line}: {said}"
    assert before.items() <= after.items(), f"{line}: files changed"
    new = sorted(path.relative_to(work).parts[0] for path in after.keys() - before.keys())
    assert all(name == "o" or name.startswith("o.") for name in new), f"{line}: {new}"
    assert effect == "refused" or new, line
    assert effect == "answered" or not new, f"{line}: {new}"
    if line == COMMANDS["run"] and effect == "answered":
        _require_right_files(work / "o", exact=model != "coded.dlc")
    for path in after.keys() - before.keys():
        path.unlink()
    return said


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _require_right_files(folder: Path, *, exact: bool) -> None:
    """Two files with the values of the outputs."""
    arrays = [np.fromfile(path, "<f4") for path in folder.rglob("*") if path.is_file()]
    assert len(arrays) == 2
    for right in expected():
        tolerance = 1e-6 if exact else 0.1
        assert any(np.allclose(value, right.ravel(), atol=tolerance) for value in arrays)
