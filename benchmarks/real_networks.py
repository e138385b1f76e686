"""Trained networks of other people with real inputs, as the accuracy tables and tests use them.

The files are not part of this repository; the folder that holds them is given by the caller.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

import hexsim
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.stored import stored_inputs
from hexsim.quantization.model import require_float

Feed = dict[str, FloatArray]
Labels = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class RealNetwork:
    """A network, the inputs it is judged on and those it is calibrated on (stored order).

    `labels` are the classes accepted for each input, none where nobody knows; it is empty for a
    network that does not classify.
    """

    name: str
    network: Network
    inputs: Sequence[Feed]
    calibration: Sequence[Feed]
    labels: Labels = ()


def real_networks(folder: Path) -> list[RealNetwork]:
    """All of them, each read from its own folder in `folder`."""
    return [make(folder) for make in MAKERS.values()]


def photo(path: Path, size: int, crop: float = 1.0) -> npt.NDArray[np.uint8]:
    """The central part `crop` of a photo, resized bilinearly: shape (size, size, 3)."""
    image = Image.open(path).convert("RGB")
    width, height = (round(crop * side) for side in image.size)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    part = image.crop((left, top, left + width, top + height))
    return np.asarray(part.resize((size, size), Image.Resampling.BILINEAR))


def mnist(folder: Path) -> RealNetwork:
    """5000 labelled digits, the first 100 of them for calibration."""
    network = _load(folder / "mnist_cnn" / "mnist.onnx")
    archive = np.load(folder / "mnist_cnn" / "mnist_test_first5000.npz")
    feeds = _feeds(network, archive["images"].astype(np.float32)[:, None, None])
    labels = tuple(frozenset((int(label),)) for label in archive["labels"])
    return RealNetwork("MNIST CNN", network, feeds, feeds[:100], labels)


def mobilenet(folder: Path) -> RealNetwork:
    """MobileNetV1 0.25 128, trained for u8 codes, on eight photos; class 0 is the background."""
    network = _load(folder / "mobilenet_v1_qat_uint8" / "mobilenet_v1_0.25_128_dequant.onnx")
    lines = _lines(folder / "photos" / "labels.csv")
    photos = [photo(folder / "photos" / line[0], 128, crop=0.875) for line in lines]
    feeds = _feeds(network, [_planes(photo, lambda x: (x - 128) / 128) for photo in photos])
    labels = tuple(frozenset(int(word) + 1 for word in line[2].split()) for line in lines)
    return RealNetwork("MobileNetV1", network, feeds, feeds, labels)


def visual_wake_words(folder: Path) -> RealNetwork:
    """Person or no person, on 16 photos, one of them ambiguous."""
    network = _load(folder / "vww_mobilenetv1_025_96" / "vww_mobilenetv1_025_96.onnx")
    lines = _lines(folder / "coco_permissive" / "labels.csv")
    photos = [photo(folder / "coco_permissive" / line[0], 96) for line in lines]
    feeds = _feeds(network, [_planes(photo, lambda x: x / 255) for photo in photos])
    labels = tuple(frozenset({int(line[1])} - {-1}) for line in lines)
    return RealNetwork("VWW MobileNet", network, feeds, feeds, labels)


def keywords(folder: Path) -> RealNetwork:
    """Four recordings: "yes", "no", silence and noise, whose class nobody gave."""
    network = _load(folder / "kws_dscnn" / "kws_dscnn.onnx")
    features = np.load(folder / "kws_dscnn" / "mfcc_4x49x10.npy").astype(np.float32)
    feeds = _feeds(network, features[:, None, None])
    labels = tuple(map(frozenset, ((9,), (3,), (10,), ())))
    return RealNetwork("keywords", network, feeds, feeds, labels)


def resnet8(folder: Path) -> RealNetwork:
    """CIFAR-10 classes on 24 photos shrunk to 32x32; five show birds or cats, the rest no class."""
    network = _load(folder / "resnet8_cifar10" / "resnet8_cifar10.onnx")
    known = {"bird": 2, "owl": 2, "parrot": 2, "cat": 3, "kitten_224": 3}
    paths = [folder / "photos" / line[0] for line in _lines(folder / "photos" / "labels.csv")]
    paths += sorted((folder / "coco_permissive").glob("*.jpg"))
    feeds = _feeds(network, [_planes(photo(path, 32), lambda x: x) for path in paths])
    labels = tuple(frozenset({known.get(path.stem, -1)} - {-1}) for path in paths)
    return RealNetwork("ResNet8", network, feeds, feeds, labels)


def autoencoder(folder: Path) -> RealNetwork:
    """196 vectors of five spectra each; every tenth for calibration."""
    place = folder / "ad_fc_autoencoder"
    network = _load(place / "ad_fc_autoencoder.onnx")
    frames = np.fromfile(place / "normal_id_01_00000000_hist_librosa.bin", "<f4").reshape(200, 128)
    feeds = _feeds(network, [frames[i : i + 5].ravel()[None] for i in range(196)])
    return RealNetwork("autoencoder", network, feeds, feeds[::10])


MAKERS: dict[str, Callable[[Path], RealNetwork]] = {
    "mnist": mnist,
    "mobilenet": mobilenet,
    "vww": visual_wake_words,
    "keywords": keywords,
    "resnet8": resnet8,
    "autoencoder": autoencoder,
}


def _load(path: Path) -> Network:
    return require_float(hexsim.load(path))


def _feeds(network: Network, arrays: Sequence[FloatArray] | FloatArray) -> list[Feed]:
    (name,) = network.inputs
    return [stored_inputs(network, {name: array}) for array in arrays]


def _planes(pixels: npt.NDArray[np.uint8], scale: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """(1, 3, height, width) of scaled pixels."""
    return scale(pixels.astype(np.float32)).transpose(2, 0, 1)[None]


def _lines(table: Path) -> list[list[str]]:
    """The lines of a table behind its heading."""
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]
