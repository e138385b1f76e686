"""Cases of the value judge: what goes in, what the arithmetic contract says, what qemu computes.

    python tests/oracle/values.py       rewrites golden_values.npz

A case is drawn from a seed; extreme operands (all 0, all 255, accumulators at the ends of int32)
are mixed in. Expected values are int64 numpy, one line per rule of the contract.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tests.oracle.toolchain import CLANG, LLD, QEMU

HERE = Path(__file__).parent
GOLDEN = HERE / "golden_values.npz"
GOLDEN_SEEDS = range(4)
LOW, HIGH = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True)
class Case:
    """One run: parameters, the three input blocks, and the expected output bytes."""

    kernel: int
    numbers: dict[int, int]
    blocks: tuple[bytes, bytes, bytes]
    expected: np.ndarray

    @property
    def input(self) -> bytes:
        head = np.zeros(16, np.int32)
        head[0], head[4] = self.kernel, self.expected.nbytes
        head[1:4] = [len(b) for b in self.blocks]
        for place, value in self.numbers.items():
            head[place] = value
        return head.tobytes() + b"".join(self.blocks)


@dataclass(frozen=True)
class Tail:
    """Constants of one requantise: preload and multiplier per channel, one shift and clamp."""

    preload: np.ndarray
    multiplier: np.ndarray
    shift: int
    low: int
    high: int

    @property
    def numbers(self) -> dict[int, int]:
        return {12: self.shift, 13: self.low, 14: self.high}

    @property
    def block(self) -> bytes:
        return self.preload.astype(np.int32).tobytes() + self.multiplier.astype(np.int32).tobytes()

    def codes(self, acc: np.ndarray) -> np.ndarray:
        """(sat32(acc << shift) * multiplier + 2^30) >> 31, clamped."""
        wide = np.clip(acc << self.shift, LOW, HIGH)
        code = (wide * self.multiplier + (1 << 30)) >> 31
        return np.clip(np.clip(code, 0, 255), self.low, self.high).astype(np.uint8)


def _tail(rng: np.random.Generator, size: int, *, per_channel: bool = True) -> Tail:
    """size: typical magnitude of an accumulator; codes then cover their range and beyond."""
    shift = int(rng.choice([0, 0, 0, 1, 3]))
    scale = rng.uniform(0.5, 2.0) * 256 / size / (1 << shift)
    multiplier = np.clip(rng.uniform(0.5, 1.5, 32) * scale * 2**31, 1, HIGH).astype(np.int64)
    if rng.random() < 0.2:
        multiplier[0] = HIGH
    multiplier = multiplier if per_channel else np.full(32, multiplier[1])
    low, high = sorted(int(v) for v in rng.choice([0, 3, 128, 250, 255], 2, replace=False))
    preload = rng.integers(-size, size, 32) if per_channel else np.full(32, rng.integers(size))
    return Tail(preload, multiplier, shift, low, high)


def _codes(rng: np.random.Generator, *shape: int) -> np.ndarray:
    mode = rng.integers(4)
    if mode == 0:
        return np.full(shape, rng.choice([0, 255]), np.uint8)
    if mode == 1:
        return rng.choice(np.array([0, 255], np.uint8), shape)
    return rng.integers(0, 256, shape, dtype=np.uint8)


def accumulators(seed: int) -> tuple[np.ndarray, Tail]:
    """Accumulators in groups of four vectors, preload included, and the tail for them."""
    rng = np.random.default_rng(seed)
    groups, tail = int(rng.integers(1, 9)), _tail(rng, 1 << 16)
    acc = rng.integers(-(1 << 18), 1 << 18, (groups, 4, 32))
    acc[0, 0, :6] = [LOW, HIGH, -1, 0, 1, HIGH >> tail.shift]
    return acc, tail


def requantise(seed: int) -> Case:
    acc, tail = accumulators(seed)
    blocks = (acc.astype(np.int32).tobytes(), b"", tail.block)
    return Case(0, {5: len(acc), **tail.numbers}, blocks, tail.codes(acc))


def convolution(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    fh, fw, stride = (int(n) for n in (rng.integers(1, 4), rng.integers(1, 4), rng.integers(1, 3)))
    oh, ow, depth = (
        int(rng.integers(1, 4)),
        4 * int(rng.integers(1, 3)),
        32 * int(rng.integers(1, 3)),
    )
    height, width = (oh - 1) * stride + fh, (ow - 1) * stride + fw
    x, w = _codes(rng, height, width, depth), _codes(rng, fh, fw, depth, 32)
    zero = int(rng.integers(0, 256))
    acc = np.zeros((oh, ow, 32), np.int64)
    for ky in range(fh):
        for kx in range(fw):
            rows = slice(ky, ky + (oh - 1) * stride + 1, stride)
            columns = slice(kx, kx + (ow - 1) * stride + 1, stride)
            acc += x[rows, columns].astype(np.int64) @ (w[ky, kx].astype(np.int64) - zero)
    tail = _tail(rng, max(1, int(abs(acc).max())))
    numbers = {5: width, 6: depth, 7: fh << 8 | fw, 8: stride, 9: oh, 10: ow, 11: zero}
    packed = w.reshape(fh, fw, depth // 4, 4, 32).transpose(0, 1, 2, 4, 3)
    blocks = (x.tobytes(), np.ascontiguousarray(packed).tobytes(), tail.block)
    return Case(1, {**numbers, **tail.numbers}, blocks, tail.codes(acc + tail.preload))


def depthwise(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    oh, ow = int(rng.integers(1, 5)), 4 * int(rng.integers(1, 5))
    x = _codes(rng, oh + 2, ow + 4, 32)
    w = _codes(rng, 3, 3, 32).view(np.int8)
    acc = np.zeros((oh, ow, 32), np.int64)
    for ky in range(3):
        for kx in range(3):
            acc += x[ky : ky + oh, kx : kx + ow].astype(np.int64) * w[ky, kx]
    tail = _tail(rng, max(1, int(abs(acc).max())))
    taps = np.zeros((3, 6, 32, 4), np.int8)
    for pixel, first, second in ((0, 0, None), (1, 1, None), (2, 2, 3), (3, 4, 5)):
        for kx in range(3):
            word, byte = divmod(pixel + kx, 4)
            taps[:, second if word else first, :, byte] = w[:, kx]
    blocks = (x.tobytes(), taps.tobytes(), tail.block)
    numbers = {5: ow + 4, 6: oh, 7: ow}
    return Case(2, {**numbers, **tail.numbers}, blocks, tail.codes(acc + tail.preload))


def max_pool(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    oh, ow = int(rng.integers(1, 5)), 4 * int(rng.integers(1, 5))
    x = _codes(rng, 2 * oh, 2 * ow, 32)
    expected = x.reshape(oh, 2, ow, 2, 32).max((1, 3))
    return Case(3, {5: oh, 6: ow}, (x.tobytes(), b"", b""), expected)


def add(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    vectors = int(rng.integers(1, 9))
    x, y = _codes(rng, vectors, 128), _codes(rng, vectors, 128)
    kx, ky = (int(k) for k in rng.integers(-(1 << 14), (1 << 14) + 1, 2))
    zx, zy = (int(z) for z in rng.integers(0, 256, 2))
    tail = _tail(rng, 1 << 21, per_channel=False)
    acc = kx * (x.astype(np.int64) - zx) + ky * (y.astype(np.int64) - zy) + tail.preload[0]
    one = Tail(tail.preload[:1], tail.multiplier[:1], tail.shift, tail.low, tail.high)
    numbers = {5: vectors, 6: kx, 7: ky, 8: zx, 9: zy, **tail.numbers}
    return Case(4, numbers, (x.tobytes(), y.tobytes(), tail.block), one.codes(acc))


def _words(a: np.ndarray) -> np.ndarray:
    return a.view("<i4").astype(np.int64)


def _dot(acc: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Four products per 32-bit lane, added to it modulo 2^32."""
    products = (left.astype(np.int64) * right.astype(np.int64)).reshape(*left.shape[:-1], -1, 4)
    return (_words(acc) + products.sum(-1)).astype(np.uint64).astype(np.uint32)


def _bytes(r: int, dtype: type) -> np.ndarray:
    return np.tile(np.array([r], "<u4").view(dtype), 32)


def _half(a: np.ndarray) -> np.ndarray:
    return a.view("<i2").astype(np.int64)


Model = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
PRIMITIVES: dict[str, Model] = {
    "vrmpy(ub,b) acc": lambda a, b, r: _dot(a, b, b.view(np.int8)),
    "vrmpy(ub,Rub) acc": lambda a, b, r: _dot(a, b, np.broadcast_to(_bytes(r, np.uint8), b.shape)),
    "vrmpy(ub,Rb) acc": lambda a, b, r: _dot(a, b, np.broadcast_to(_bytes(r, np.int8), b.shape)),
    "vmpye, vmpyo acc": lambda a, b, r: np.clip(
        (_words(a) * _words(b) + (1 << 30)) >> 31, LOW, HIGH
    ).astype(np.int32),
    "vpack w:sat": lambda a, b, r: np.clip(
        np.concatenate([_words(b), _words(a)], -1), -(1 << 15), (1 << 15) - 1
    ).astype(np.int16),
    "vpack h:sat": lambda a, b, r: np.clip(np.concatenate([_half(b), _half(a)], -1), 0, 255).astype(
        np.uint8
    ),
    "vshuff b": lambda a, b, r: np.stack([a[:, :64], a[:, 64:]], -1),
    "valign": lambda a, b, r: np.concatenate([b, a], -1)[:, r & 127 : (r & 127) + 128],
    "vmpy h:<<1:rnd:sat": lambda a, b, r: np.clip(
        (2 * _half(a) * _half(b) + (1 << 15)) >> 16, -(1 << 15), (1 << 15) - 1
    ).astype(np.int16),
    "vasr h:rnd:sat": lambda a, b, r: np.clip(
        (np.stack([_half(b), _half(a)], -1) + ((1 << (r & 7)) >> 1)) >> (r & 7), 0, 255
    ).astype(np.uint8),
    "vdeal -32": lambda a, b, r: np.concatenate([b, a], -1).reshape(-1, 8, 32)[:, ::2],
    "vsub ub to h": lambda a, b, r: (a.astype(np.int16) - b.astype(np.int16))[:, 1::2],
}


def primitive(name: str, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 256, (2, 8, 128), dtype=np.uint8)
    ends = np.array([LOW, HIGH, -1, 0, 1, 0x7FFF8000, 0x00FF00FF, -0x7FFF8000], np.int64)
    a[0], b[0] = (np.resize(e, 32).astype("<i4").view(np.uint8) for e in (ends, ends[::-1]))
    a[1], b[1] = 255, 128
    r = int(rng.integers(LOW, HIGH))
    expected = np.ascontiguousarray(PRIMITIVES[name](a, b, r & 0xFFFFFFFF))
    numbers = {5: list(PRIMITIVES).index(name), 6: len(a)}
    blocks = (a.tobytes(), b.tobytes(), np.array([r], np.int32).tobytes())
    return Case(5, numbers, blocks, expected)


KERNELS: dict[str, Callable[[int], Case]] = {
    "requantise": requantise,
    "convolution": convolution,
    "depthwise": depthwise,
    "max pool": max_pool,
    "add": add,
}


@cache
def program(version: int, folder: str) -> str:
    """Path of values.c built for a version."""
    made = f"{folder}/values{version}"
    target = ["--target=hexagon-unknown-linux-musl", f"-mv{version}", f"-mhvx=v{version}"]
    flags = ["-mhvx-length=128B", "-ffreestanding", "-fno-builtin", "-fno-pic", "-O2"]
    source = str(HERE / "values.c")
    subprocess.run([CLANG, *target, *flags, "-c", source, "-o", f"{made}.o"], check=True)
    subprocess.run([LLD, "-static", "-o", made, f"{made}.o"], check=True)
    return made


def computed(case: Case, built: str) -> np.ndarray:
    """What qemu-hexagon computes for a case, as bytes."""
    done = subprocess.run([QEMU, built], input=case.input, capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        built = program(60, temporary)
        golden = {
            f"{name}/{seed}": computed(make(seed), built)
            for name, make in KERNELS.items()
            for seed in GOLDEN_SEEDS
        }
        golden |= {f"{n}/0": computed(primitive(n, 0), built) for n in PRIMITIVES}
        np.savez_compressed(GOLDEN, **golden)
