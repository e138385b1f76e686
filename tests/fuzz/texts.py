"""Damaged text inputs: JSON, TOML, CSV, labels, lists, raw files and pictures.

A case is told by its number alone.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from hexsim.accuracy.classes import read_class_names, read_labels
from hexsim.accuracy.detections import read_truth
from hexsim.datasheets import background, chips, stacks
from hexsim.datasheets.datasheet import Datasheet, datasheet_text
from hexsim.deployment.phone_profile.reading import read_profile
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.input_list import read_input_list
from hexsim.inputs.pictures import pictures
from hexsim.inputs.preprocessing import mean_image
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.quantization.quantizer import quantize
from hexsim.studies.calibration.own_rows import Names, read_rows
from tests.deployment.phone_profile.files import FILES as PROFILES
from tests.dlc.made import small_network
from tests.fuzz.watch import watched

AIMET = ("0.4.0", "0.6.1", "1.0.0", "2.0.0")
KINDS = ("bmp", "gif", "jpeg", "png", "ppm", "tiff", "webp")
"""Of pictures."""
Read = Callable[[Path], object]
_SHAPE = small_network().constants["weight0"].shape
"""Height, width, input and output channels."""


def _aimet(version: str) -> str:
    encoding = {"bitwidth": 8, "min": -1.0, "max": 2.0, "is_symmetric": "False", "dtype": "int"}
    weight = {"bitwidth": 8, "min": -1.0, "max": 1.0, "is_symmetric": "True", "dtype": "int"}
    if version == "1.0.0":
        encoding = {
            "name": "in",
            "enc_type": "PER_TENSOR",
            "dtype": "INT",
            "bw": 8,
            "is_sym": False,
        }
        encoding |= {"scale": [0.1], "offset": [-20]}
        sections = {
            "activation_encodings": [encoding],
            "param_encodings": [{**encoding, "name": "weight0"}],
        }
    elif version == "2.0.0":
        tensor = {"name": "in", "output_dtype": "uint8", "y_scale": 0.1, "y_zero_point": 20}
        weight = {"name": "weight0", "output_dtype": "int4", "axis": 1, "block_size": 1}
        weight |= {"per_channel_float_scale": [[[[0.1]]]] * _SHAPE[-1]}
        weight |= {"per_block_int_scale": [[[[2]]] * _SHAPE[-2]] * _SHAPE[-1]}
        return json.dumps({"version": version, "encodings": [tensor, weight]})
    else:
        sections = {
            "activation_encodings": {"in": [encoding]},
            "param_encodings": {"weight0": [weight]},
        }
    return json.dumps({"version": version, **sections}, indent=1)


def _overrides(path: Path) -> None:
    network = small_network()
    quantize(network, [{"in": np.ones((1, 8, 8, 3), np.float32)}], overrides=read_aimet(path))


def _platform(path: Path) -> None:
    Platform(chips.load(path), stacks.load("snpe-1.30")).chip.require("dsp")


def _stack(path: Path) -> None:
    Platform(chips.load("sd855"), stacks.load(path)).stack.require("dsp")


def _rows(path: Path) -> None:
    names = Names(frozenset({"sd855"}), frozenset({"snpe-1.30"}))
    read_rows(path, _sd855(), names, load)


@cache
def _sd855() -> Platform:
    return Platform.load("sd855", "snpe-1.30")


def _network() -> Network:
    return small_network()


def _list(path: Path) -> None:
    network = _network()
    for feed in read_input_list(path, network).arrays(network):
        assert feed


def _raw(path: Path) -> None:
    path.with_name("list.txt").write_text(f"{path}\n")
    _list(path.with_name("list.txt"))


def _picture(path: Path) -> None:
    for feed in pictures(path.parent, _network(), PictureSteps()).feeds():
        assert feed


def _mean(path: Path) -> None:
    assert mean_image(path).shape == (3, 5, 6)


def _npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(90, dtype=np.float32).reshape(3, 5, 6))
    return buffer.getvalue()


def _truth() -> bytes:
    image = {"id": 1, "file_name": "a.png", "width": 20, "height": 10}
    note = {"image_id": 1, "category_id": 3, "bbox": [1, 2, 3.5, 4], "iscrowd": 0}
    categories = [{"id": 3, "name": "cat"}]
    whole = {"images": [image], "annotations": [note], "categories": categories}
    return json.dumps(whole).encode()


def _image(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.arange(300).astype(np.uint8).reshape(10, 10, 3)).save(buffer, kind)
    return buffer.getvalue()


def _written(datasheet: Datasheet) -> bytes:
    return datasheet_text(datasheet, "a datasheet").encode()


@cache
def good() -> tuple[tuple[str, bytes, Read], ...]:
    """File name, contents, and the reader that takes them."""
    rows = "runtime,model,latency_ms,batch\ndsp,inception_v3,10.5,1\naip,inception_v3,8,1\n"
    labels = "".join(f"{n}\n" for n in range(10))
    return (
        *((f"v{v}.json", _aimet(v).encode(), _overrides) for v in AIMET),
        *((name, text.encode(), read_profile) for name, text in PROFILES.items()),
        ("chip.toml", _written(chips.load("sd855")), _platform),
        ("stack.toml", _written(stacks.load("snpe-1.30")), _stack),
        ("load.toml", _written(background.load(background.names()[0])), background.load),
        ("rows.csv", rows.encode(), _rows),
        ("labels.txt", labels.encode(), lambda path: read_labels(path, 10, _network())),
        ("names.txt", labels.encode(), lambda path: read_class_names(path, _network())),
        ("truth.json", _truth(), read_truth),
        ("mean.npy", _npy(), _mean),
        ("named.txt", b"in:=good.raw\ngood.raw\n", _list),
        ("x.raw", np.ones(192, "<f4").tobytes(), _raw),
        *((f"x.{kind}", _image(kind), _picture) for kind in KINDS),
    )


INSERTED: tuple[bytes, ...] = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\x0b", "\u2028".encode(), b"\x1b[31m"),
    *(b"9" * 5000, b"-1", b"1e999", b"NaN", b"nan", b"inf", b"-Infinity", b"null", b"true", b"''"),
    *(b"[" * 3000, b"{" * 3000, b'{"a":' * 2000, b'"', b"=", b":=", b",", b"#", b"%", b"\n[x]\n"),
    *(b"0x" + b"f" * 9000, b"1_0", b"x" * 70000, b"../..", b"/dev/zero", b"/", b"\xed\xa0\x80"),
)
_TOKENS = (b"0", b"1", b".", b"=", b":", b",", b"[", b"]", b"{", b"}", b'"', b"\n", b" ")


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Damage `data` once or a few times, in ways that `rng` chooses."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_CHANGES)(rng, data)
    return data


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(INSERTED) + data[at:]


def _word(rng: random.Random, data: bytes) -> bytes:
    """A word or number in the place of another."""
    token = rng.choice(_TOKENS)
    places = [at for at in range(len(data)) if data.startswith(token, at)]
    at = rng.choice(places) if places else 0
    end = next((n for n in range(at + 1, len(data)) if data[n : n + 1] in _TOKENS), len(data))
    return data[: at + 1] + rng.choice((*INSERTED, b"", b"-5", b"0", b"abc")) + data[end:]


def _cut(rng: random.Random, data: bytes) -> bytes:
    start, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return rng.choice((data[:start], data[start:], data[:start] + data[end:], b""))


def _again(rng: random.Random, data: bytes) -> bytes:
    """Some lines twice, or in another place."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    at = rng.randrange(len(lines))
    return b"".join([*lines[: at + 1], *lines[at:], lines[rng.randrange(len(lines))]])


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data or b" ")
    for _ in range(rng.choice((1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _otherwise_coded(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-32", "utf-8-sig")), "replace")


_CHANGES = (_insert, _insert, _word, _word, _word, _cut, _again, _flip, _otherwise_coded)


def judged(number: int, folder: Path) -> str:
    """The sentence by which a file was refused, or nothing; anything else it raises is a fault."""
    rng = random.Random(number)
    name, data, read = rng.choice(good())
    for old in folder.iterdir():
        old.rmdir() if old.is_dir() else old.unlink()
    path = folder / name
    kind = rng.random()
    if kind < 0.01:
        path.mkdir()
    elif kind < 0.02:
        os.mkfifo(path)
    elif kind > 0.03:
        path.write_bytes(mutated(rng, data))
    (folder / "good.raw").write_bytes(np.ones(192, "<f4").tobytes())
    with watched(), contextlib.chdir(folder), np.errstate(all="ignore"):
        try:
            read(path)
        except HexsimError as error:
            return str(error)
    return ""
