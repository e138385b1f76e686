"""Seeded inputs: artificial data to calibrate and compare networks without real data.

Each input is a field like a photograph's after mean subtraction: smooth structure at several
scales plus fine noise, around zero, mostly within -3 to 3. Inputs differ clearly from one
another in level (per channel, like a colour cast), contrast and structure.
Inputs of integers get whole numbers that the network accepts: positions of the table from which
they choose, bytes as of a photograph where they are 8-bit numbers, otherwise 0 and 1, which suit
masks and lengths; booleans are either. Quantised inputs (codes) fill the range of codes.
Left out: anything that looks like an object; the answers of a network to them mean nothing. The
exception are the trained networks among the built-in ones, which get pictures that they recognise.
"""

import math
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from hexsim import budget, models
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.network_ends import CodedEnd
from hexsim.graph.whole_numbers import WHOLE_TYPES, limits
from hexsim.inputs.stored import stored_inputs
from hexsim.threads import default_threads

CALIBRATION_INPUTS = 8
"""Seeded inputs used when a float network is quantised at load and none are given; the SNPE
guide calls 5 to 10 enough to try."""

EVALUATION_INPUTS = 4
"""Seeded inputs on which a runtime's answers are compared with float; none is a calibration
input."""

EVALUATION_SEED = 1

GRID_SIZES = (2, 4, 8, 16)
"""Knots per axis of the smooth fields that are added, coarse to fine."""

_MEANWHILE = 8
"""Temporary memory of creating one set, in sets of inputs (it is computed in float64)."""

_SMALL = 1 << 20
"""Elements of a set below which several are created at a time, as they need little memory."""


def seeded_inputs(
    shapes: Mapping[str, tuple[int, ...]], count: int, seed: int = 0
) -> list[dict[str, FloatArray]]:
    """Return `count` sets of float32 inputs, one array of the given shape per name.

    Set i of input `name` depends on `seed`, i and `name` only: asking for more sets does not
    change the first ones. Works for any rank; the two longest axes of a tensor of rank 3 or
    more are taken as the image, the others as independent channels.
    """
    elements = sum(map(math.prod, shapes.values()))
    budget.require(
        budget.VALUES, (count + _MEANWHILE) * elements, f"making up {count} sets of inputs"
    )

    def feed(index: int) -> dict[str, FloatArray]:
        return {
            name: _field(np.random.default_rng((seed, index, zlib.crc32(name.encode()))), shape)
            for name, shape in shapes.items()
        }

    with ThreadPoolExecutor(default_threads() if elements < _SMALL else 1) as cores:
        return list(cores.map(feed, range(count)))


def seeded_calibration(
    network: Network, count: int = CALIBRATION_INPUTS, seed: int = 0
) -> list[dict[str, FloatArray]]:
    """Seeded inputs for `network`, in stored order; pictures for one that `recognises_pictures`."""
    shapes = {name: network.tensors[name].source_shape for name in network.inputs}
    if recognises_pictures(network):
        drawn, _ = models.pictures(count, seed)
        return [stored_inputs(network, {network.inputs[0]: picture[None]}) for picture in drawn]
    sets = seeded_inputs(shapes, count, seed)
    for name in network.inputs:
        if network.input_format(name).type == "image":
            for feed in sets:
                feed[name] = as_bytes(feed[name])
        elif name in network.coded_ends:
            for feed in sets:
                feed[name] = _coded(feed[name], network.coded_ends[name])
        elif (dtype := network.tensors[name].dtype) in WHOLE_TYPES:
            from hexsim.onnx_io.positions import positions

            choices = positions(network, name)
            for index, feed in enumerate(sets):
                rng = np.random.default_rng((seed, index, zlib.crc32(name.encode())))
                feed[name] = _whole(feed[name], dtype, choices, rng)
    return [stored_inputs(network, feed) for feed in sets]


def recognises_pictures(network: Network) -> bool:
    """Return whether `network` is a trained built-in one, also from a file made of it."""
    inputs = [(name, network.tensors[name].source_shape) for name in network.inputs]
    return len(inputs) == 1 and models.reads_pictures(*inputs[0])


def as_bytes(field: FloatArray) -> FloatArray:
    """Return the field as a picture that was not normalised: whole numbers 0 to 255 around 128."""
    return np.clip(np.rint(128 + 42 * field), 0, 255).astype(np.float32)


def _coded(field: FloatArray, end: CodedEnd) -> FloatArray:
    """Return the field scaled to the whole range of codes, as dequantised values of codes."""
    limits = np.iinfo(end.type)
    codes = np.rint((limits.min + limits.max + 1) / 2 + (limits.max - limits.min) / 6 * field)
    return end.real(np.clip(codes, limits.min, limits.max).astype(end.type))


def _whole(
    field: FloatArray, dtype: str, positions: int | None, rng: np.random.Generator
) -> FloatArray:
    """Return whole numbers in the shape of `field`: positions, bytes, or 0 and 1."""
    low, high = limits(dtype)
    if positions is None and dtype in ("uint8", "int8"):
        return (as_bytes(field) + low).astype(dtype)
    largest = 1 if positions is None else min(positions - 1, high)
    return rng.integers(0, max(0, largest), field.shape, endpoint=True).astype(dtype)


def _field(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    image = sorted(sorted(range(len(shape)), key=lambda axis: -shape[axis])[:2])
    if len(shape) < 3:
        image = []
    channels = [1 if axis in image else size for axis, size in enumerate(shape)]
    field = 0.6 * rng.standard_normal(channels) + np.zeros(shape)
    for size in GRID_SIZES if image else ():
        knots = [min(size, n) if axis in image else n for axis, n in enumerate(shape)]
        smooth = rng.standard_normal(knots)
        for axis in image:
            smooth = _stretch(smooth, axis, shape[axis])
        field += smooth / math.sqrt(len(GRID_SIZES))
    contrast = rng.uniform(0.6, 1.1)
    fine = 0.1 * rng.standard_normal(shape)
    return (contrast * (field + fine)).astype(np.float32)


def _stretch(field: npt.NDArray[np.float64], axis: int, size: int) -> npt.NDArray[np.float64]:
    """Interpolate `field` linearly along `axis` to `size` points."""
    knots = field.shape[axis]
    at = np.linspace(0, knots - 1, size)
    lower = np.minimum(at.astype(int), max(knots - 2, 0))
    upper = np.minimum(lower + 1, knots - 1)
    part = (at - lower).reshape([-1 if a == axis else 1 for a in range(field.ndim)])
    stretched: npt.NDArray[np.float64] = (1 - part) * field.take(lower, axis)
    stretched += part * field.take(upper, axis)
    return stretched
