"""Forged .dlc files: a good one is opened, something in it is changed, and it is sealed again.

So the seal is right, and what is wrong is what the file says. A case is told by its number alone.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import hexsim
from hexsim import dlc
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import prepared
from hexsim.deployment.platform import Platform
from hexsim.dlc.archive import METADATA, MODEL, create_archive, open_archive
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, Overrides
from hexsim.quantization.quantizer import quantize
from hexsim.reports.info import info_csv, info_table
from hexsim.results.info import Info
from hexsim.studies.model_info import info_of
from tests import mixed
from tests.dlc.made import small_network
from tests.entry_points.examples import examples
from tests.entry_points.places import feed
from tests.fuzz.watch import watched

MOST = 1 << 20
"""Elements of a tensor that is computed; a larger network is as good, and takes its time."""

REFUSED = "convert the model again"
"""How sentences end that refuse a file."""

RAW = "\1raw:"
"""How a string begins that becomes JSON as it is, without quotes: what `json` does not write."""


@dataclass
class Parts:
    """What a .dlc file holds, open to change."""

    model: Any
    metadata: bytes
    weights: bytearray
    records: dict[str, bytes] = field(default_factory=dict)
    extra: list[tuple[str, bytes]] = field(default_factory=list)


def opened(path: Path) -> Parts:
    archive = open_archive(path)
    weights = path.read_bytes()[archive.params_start : archive.params_end]
    return Parts(
        json.loads(archive.model), archive.metadata, bytearray(weights), dict(archive.records)
    )


def sealed(parts: Parts, path: Path) -> None:
    """Write what is left of a file as a file, with a seal that is right."""
    if isinstance(parts.model, bytes):
        text = parts.model
    else:
        written = json.dumps(parts.model)
        pieces = written.split(f'"{json.dumps(RAW)[1:-1]}')
        text = pieces[0].encode()
        for piece in pieces[1:]:
            raw, rest = piece.split('"', 1)
            text += (raw + rest).encode()
    with warnings.catch_warnings(), path.open("w+b") as file, create_archive(file) as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        with archive.params(len(parts.weights)) as stream:
            stream.write(parts.weights)
        archive.add(MODEL, text)
        archive.add(METADATA, parts.metadata)
        for name, record in (*parts.records.items(), *parts.extra):
            archive.add(name, record)


# Good files


@cache
def good() -> tuple[tuple[str, Parts], ...]:
    """Files of every kind: each layer type in floats and codes, and what only some files have."""
    opened_files: list[tuple[str, Parts]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model in _models():
            path = Path(folder) / "m.dlc"
            dlc.write(path, model)
            opened_files.append((name, opened(path)))
    return tuple(opened_files)


def _models() -> Iterator[tuple[str, Model]]:
    seen = set()
    for example in examples():
        if example.of in seen or example.rank not in (3, 4):
            continue
        seen.add(example.of)
        yield f"{example} float", Model(example.network)
        yield f"{example} int8", quantize(example.network, [feed(example)])
    network = small_network()
    inputs = [{"in": np.linspace(-1, 1, 192, dtype=np.float32).reshape(1, 8, 8, 3)}]
    for name, options in {
        "per channel": QuantizationOptions(axis_weights=True),
        "16 bits": QuantizationOptions(activation_bits=16),
        "packed": QuantizationOptions(weight_bits=4, pack_4_bit_weights=True),
        "wide bias": QuantizationOptions(bias_bits=32),
    }.items():
        yield name, quantize(network, inputs, options)
    platform = Platform.load("sd855")
    yield "sections", prepared(quantize(network, inputs), platform, "aip")
    asked = Overrides({"conv2.y": FloatOverride(16)})
    yield "mixed", quantize(mixed.chain(), mixed.feeds(1), overrides=asked)


# Mutations

VALUES: tuple[Any, ...] = (
    *(None, True, "", "x", [], {}, 0, 1, -1, 2, 3, 7, 0.5, -0.5, 1e-300, 1e300),
    *(1e-320, 1e-160, 1e-45, 1e-38, 1e-18, 1e18, 1e38, 1e160, 1e308, "=1+1", "int37", "float16"),
    *(255, 2**31 - 1, 2**31, 2**63, -(2**63), 10**30, "inf", "-inf", "nan", "\0", "y" * 5000),
    *(RAW + "NaN", RAW + "Infinity", RAW + "-Infinity", RAW + "1e999", RAW + "9" * 5000),
    *([0], [1, 1], [-1], [[]], {"x": 1}, RAW + "[" * 3000 + "]" * 3000),
)
Node = tuple[Any, Any]
"""A container of JSON, and a key in it."""


def nodes(tree: Any) -> Iterator[Node]:
    """Every place in a tree."""
    pending = [tree]
    while pending:
        node = pending.pop()
        pairs = enumerate(node) if isinstance(node, list) else node.items()
        for key, item in pairs:
            yield node, key
            if isinstance(item, dict | list):
                pending.append(item)


def mutated(rng: random.Random, parts: Parts) -> Parts:
    """Damage a copy of `parts` once or a few times, in ways that `rng` chooses."""
    changed = replace(
        parts,
        model=json.loads(json.dumps(parts.model)),
        weights=bytearray(parts.weights),
        records=dict(parts.records),
        extra=list(parts.extra),
    )
    for _ in range(rng.choice((1, 1, 1, 2))):
        rng.choices(_CHANGES, _WEIGHTS)[0](rng, changed)
    return changed


def _place(rng: random.Random, parts: Parts) -> Node:
    """A place, of which those of layers and encodings are as likely as the many of arrays."""
    tree = parts.model
    keys = [key for key in tree if isinstance(tree[key], dict | list) and tree[key]]
    key = rng.choice(keys) if keys else None
    if key is None or rng.random() < 0.05:
        return tree, rng.choice(list(tree)) if tree else "name"
    return rng.choice([(tree, key), *nodes(tree[key])])


def _value(rng: random.Random, parts: Parts) -> None:
    node, key = _place(rng, parts)
    node[key] = rng.choice(VALUES)


def _near(rng: random.Random, parts: Parts) -> None:
    """A number a little beside itself, or a list in another order."""
    for _ in range(20):
        node, key = _place(rng, parts)
        item = node[key]
        if isinstance(item, bool):
            node[key] = not item
        elif isinstance(item, int):
            node[key] = item + rng.choice((-1, 1, 2, item, -2 * item))
        elif isinstance(item, float):
            node[key] = item * rng.choice((-1, 0, 2, 1e-30, 1e30))
        elif isinstance(item, list) and item:
            node[key] = rng.choice((item[::-1], item[1:], item[:-1], item + item[:1], item * 2))
        else:
            continue
        return


def _same_kind(rng: random.Random, parts: Parts) -> None:
    """Another value of the same type, such as a schema admits: small or large, none or empty."""
    node, key = _place(rng, parts)
    item = node[key]
    if isinstance(item, bool):
        node[key] = not item
    elif isinstance(item, int):
        node[key] = rng.choice((0, 1, 2, 3, 4, 8, 16, 255, 4096, 65535, 2**24, 2**31 - 1, -1, -7))
    elif isinstance(item, float):
        size = rng.choice((0.0, 1.2e-38, 1e-30, 1e-9, 1e-3, 0.5, 1.0, 3.0, 1e6, 1e18, 1e38, 3.4e38))
        node[key] = rng.choice((size, size, -size, item * size))
    elif isinstance(item, str):
        node[key] = rng.choice(("", "x", "in", "y", item + "0", item.upper(), "inf", "-inf"))
    elif isinstance(item, list | dict):
        node[key] = type(item)()


def _drop(rng: random.Random, parts: Parts) -> None:
    node, key = _place(rng, parts)
    del node[key]


def _rename(rng: random.Random, parts: Parts) -> None:
    """A reference to something else that the file knows."""
    strings = [
        (node, key)
        for node, key in nodes(parts.model)
        if isinstance(node[key], str) and key != "sha256"
    ]
    if len(strings) > 1:
        (node, key), (other, name) = rng.choice(strings), rng.choice(strings)
        node[key] = other[name]


def _swap(rng: random.Random, parts: Parts) -> None:
    (node, key), (other, name) = _place(rng, parts), _place(rng, parts)
    with contextlib.suppress(LookupError):
        node[key], other[name] = other[name], node[key]


def _new_key(rng: random.Random, parts: Parts) -> None:
    node, _ = _place(rng, parts)
    if isinstance(node, dict):
        node[rng.choice(("colour", "class", "name", "", "\x1b[31m"))] = rng.choice(VALUES)


def _shape(rng: random.Random, parts: Parts) -> None:
    """A size that is wrong in every place that states it."""
    numbers = [node[key] for node, key in nodes(parts.model) if isinstance(node[key], list)]
    shapes = [number for number in numbers if number and all(type(size) is int for size in number)]
    if not shapes:
        return
    old = list(rng.choice(shapes))
    first, *rest = old
    new = rng.choice((old[::-1], [first + 9, *rest], [0, *rest], [*old[:-1], 2**31], rest))
    for node, key in [*nodes(parts.model)]:
        if node[key] == old:
            node[key] = list(new)


def _weights(rng: random.Random, parts: Parts) -> None:
    """Other bytes, with the digests of these bytes; or more or fewer of them."""
    if rng.random() < 0.3:
        del parts.weights[rng.randrange(len(parts.weights) + 1) :]
        parts.weights += rng.randbytes(rng.choice((0, 1, 64)))
        return
    fill = rng.choice((b"\0", b"\xff", b"\x80", b"\x7f"))
    parts.weights[:] = rng.choice((fill * len(parts.weights), rng.randbytes(len(parts.weights))))
    start = 0
    with contextlib.suppress(Exception):  # descriptions that were damaged before
        for array in parts.model["arrays"]:
            size = int(np.prod(array["shape"])) * np.dtype(array["stored"]).itemsize
            digest = hashlib.sha256(parts.weights[start : start + size]).hexdigest()
            array["sha256"] = digest
            start += size


def _metadata(rng: random.Random, parts: Parts) -> None:
    line = rng.choice((b"colour=red\n", b"\xff=1\n", b"no sign\n", b"=\n", b"model-version=2\n"))
    parts.metadata = rng.choice((b"", line, parts.metadata + line, parts.metadata[:-9], b"\0" * 9))


def _entries(rng: random.Random, parts: Parts) -> None:
    name = rng.choice((MODEL, "../x", "/etc/x", "aip.hta.sd855.0", "aip.hta.x", "x/", "\0"))
    parts.extra.append((name, rng.choice((b"", b"{}", rng.randbytes(20)))))


def _node(rng: random.Random, parts: Parts) -> None:
    """Bits of the ONNX node of an opaque layer."""
    for layer, _ in [*nodes(parts.model)]:
        if isinstance(layer, dict) and isinstance(layer.get("node"), str) and layer["node"]:
            with contextlib.suppress(ValueError):
                data = bytearray(base64.b64decode(layer["node"]))
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
                layer["node"] = base64.b64encode(data).decode()


def _record(rng: random.Random, parts: Parts) -> None:
    for name in parts.records:
        record = parts.records[name]
        with contextlib.suppress(ValueError):
            tree = json.loads(record)
            node, key = rng.choice([*nodes(tree)])
            node[key] = rng.choice((None, -1, "x", [], 10**30, 0.5))
            record = json.dumps(tree).encode()
        parts.records[name] = rng.choice((record, b"", b"[]", b"{", b"\xff", record))


def _other_record(rng: random.Random, parts: Parts) -> None:
    """What another section, chip or file has, or its own layers in another order."""
    for name, record in parts.records.items():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            tree = json.loads(record)
            layers = tree["layers"]
            others = [record for _, other in good() for record in other.records.values()]
            changed = {**tree, "layers": layers[::-1]}, {**tree, "layers": layers[:-1]}
            texts = [
                json.dumps(record).encode() for record in (*changed, {**tree, "chip": "sd865"})
            ]
            parts.records[name] = rng.choice((*texts, rng.choice(others)))


def _text(rng: random.Random, parts: Parts) -> None:
    text = json.dumps(parts.model).encode()
    at = rng.randrange(len(text))
    deep = b'{"name":' * 5000 + b"1" + b"}" * 5000
    parts.model = rng.choice((text[:at], b"", b"null", deep, b"\xef\xbb\xbf" + text, text + b"x"))
    parts.model = rng.choice((parts.model, text[:at] + b"\xff" + text[at:], text[1:]))


def _guarded(change: Callable[[random.Random, Parts], None]) -> Callable[..., None]:
    def guarded(rng: random.Random, parts: Parts) -> None:
        if isinstance(parts.model, dict):
            with contextlib.suppress(KeyError):  # of a table that is empty
                change(rng, parts)

    return guarded


TREE_CHANGES = [
    _guarded(change)
    for change in (_value, _near, _same_kind, _same_kind, _drop, _rename, _swap, _new_key)
]
"""What may become of JSON of any kind."""
_SHARES = {
    _value: 8, _near: 8, _same_kind: 8, _drop: 3, _rename: 5, _swap: 3, _new_key: 1, _shape: 3,
    _weights: 2, _node: 2, _metadata: 1, _entries: 1, _record: 1, _other_record: 1, _text: 1,
}  # fmt: skip
_CHANGES = [_guarded(change) for change in _SHARES]
_WEIGHTS = list(_SHARES.values())


# Judgement


def forged(number: int) -> tuple[str, Parts]:
    """The file of a case, and what it was made of."""
    rng = random.Random(number)
    name, parts = rng.choice(good())
    return name, mutated(rng, parts)


def judged(number: int, folder: Path) -> str:
    """The sentences by which a file was refused, or nothing: then it gave answers.

    Anything else that it raises is a fault.
    """
    _, parts = forged(number)
    path = folder / "m.dlc"
    sealed(parts, path)
    with watched():
        return judge(path)


def judge(path: Path) -> str:
    """One file through the entry points: what is in it, values and times, and where it is cut."""
    try:
        read = load_container(path)
    except HexsimError as error:
        return str(error)
    model, said = read.model, []
    if any(tensor.elements > MOST for tensor in model.network.tensors.values()):
        return f"{info_table(info_of(str(path), read))[:40]}: too large to be run here"
    for entry in (
        lambda: [view(info_of(str(path), read)) for view in (info_table, Info.to_json, info_csv)],
        lambda: hexsim.simulate(model, runtime="cpu", inputs=_inputs(model.network), chip="sd835"),
        lambda: hexsim.simulate(model, inputs=_inputs(model.network), chip="sd835"),
        lambda: _profiled(deploy(model, Platform.load("sd835"), "dsp")),
        lambda: deploy(model, Platform.load("sd855"), "aip").plan,
        lambda: hexsim.compile_hta(model, "sd855") if model.quantized else None,
        lambda: dlc.write(path.with_name("again.dlc"), model),
    ):
        try:
            with np.errstate(all="ignore"):
                entry()
        except HexsimError as error:
            said.append(str(error))
    return "\n".join(dict.fromkeys(said))


def _profiled(deployment: Deployment) -> float:
    timing = deployment.simulate()
    assert deployment.memory().layers
    return deployment.platform.energy(timing).millijoules


def _inputs(network: Network) -> dict[str, np.ndarray]:
    """Ones, as the file's own axes have them."""
    tensors = [network.tensors[name] for name in network.inputs]
    return {tensor.name: np.ones(tensor.source_shape, np.float32) for tensor in tensors}
