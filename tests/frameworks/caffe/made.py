"""Nets of Caffe for tests: prototxts and caffemodels written here, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hexsim.dlc.loading import load
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model

Arrays = Mapping[str, Sequence[np.ndarray]]


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def block(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def blob(array: np.ndarray, *, old: bool = False, packed: bool = True) -> bytes:
    """A blob with its shape, or as old files have it with num, channels, height and width."""
    if old:
        sizes = (1,) * (4 - array.ndim) + array.shape
        shape = b"".join(varint(at << 3) + varint(size) for at, size in enumerate(sizes, start=1))
    else:
        shape = block(7, block(1, b"".join(map(varint, array.shape))))
    wide = array.dtype == np.float64
    data = array.astype("<f8" if wide else "<f4").tobytes()
    if packed:
        return shape + block(8 if wide else 5, data)
    return shape + b"".join(varint(5 << 3 | 5) + data[at : at + 4] for at in range(0, len(data), 4))


def caffemodel(weights: Arrays, *, v1: bool = False, packed: bool = True) -> bytes:
    layer, name, blobs = (2, 4, 6) if v1 else (100, 1, 7)
    return block(1, b"net") + b"".join(
        block(
            layer,
            block(name, label.encode())
            + b"".join(block(blobs, blob(a, old=v1, packed=packed)) for a in arrays),
        )
        for label, arrays in weights.items()
    )


def dims(shape: Sequence[int]) -> str:
    return " ".join(f"dim: {size}" for size in shape)


def layer(name: str, kind: str, bottoms: str, tops: str, more: str = "") -> str:
    sides = [f'bottom: "{blob}"' for blob in bottoms.split()]
    sides += [f'top: "{blob}"' for blob in tops.split()]
    return f'layer {{ name: "{name}" type: "{kind}" {" ".join(sides)} {more} }}\n'


def net(*layers: str, **inputs: Sequence[int]) -> str:
    fed = [
        layer(name, "Input", "", name, f"input_param {{ shape {{ {dims(shape)} }} }}")
        for name, shape in inputs.items()
    ]
    return 'name: "net"\n' + "".join((*fed, *layers))


def stored(folder: Path, text: str, weights: Arrays | bytes | None = None) -> Path:
    path = folder / "net.prototxt"
    path.write_text(text, encoding="utf-8")
    if weights is not None:
        data = weights if isinstance(weights, bytes) else caffemodel(weights)
        path.with_suffix(".caffemodel").write_bytes(data)
    return path


def answers(model: Model, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs in the axes of Caffe."""
    network = model.network
    fed = {name: network.tensors[name].from_source(array) for name, array in inputs.items()}
    results = FloatEngine(network).run(fed)
    return {name: network.tensors[name].to_source(results[name]) for name in network.outputs}


def answered(
    folder: Path, text: str, weights: Arrays | None = None, **inputs: np.ndarray
) -> dict[str, np.ndarray]:
    """What the net answers, in floats: as it is read, which must equal what passes make of it."""
    path = stored(folder, text, weights)
    plain, optimized = (answers(load(path, optimized=way), inputs) for way in (False, True))
    for name, array in plain.items():
        np.testing.assert_allclose(optimized[name], array, rtol=1e-4, atol=1e-5)
    return plain
