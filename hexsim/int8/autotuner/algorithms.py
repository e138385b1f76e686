"""The algorithms that compute a convolution: the table from which one is chosen for each layer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

from hexsim.files.private import is_own
from hexsim.int8.algorithm import Name, wanted
from hexsim.int8.autotuner.cache import AutotunerCache
from hexsim.int8.autotuner.decision import DOUBT, AlgorithmCandidate, choose
from hexsim.int8.autotuner.measured import seconds_of
from hexsim.int8.gemm.convolution import (
    ByCodes,
    ByDistances,
    GuardedConvolution,
    PlainConvolution,
    TiledConvolution,
)
from hexsim.int8.gemm.guarded_panels import LANES, PAIRED
from hexsim.int8.gemm.self_check import dots_are_exact
from hexsim.int8.machine_code.cache import cache_folder
from hexsim.int8.machine_code.features import has_dots, has_vectors
from hexsim.int8.machine_code.inner_loops.microkernel import PAIRS, tile_of
from hexsim.int8.machine_code.inner_loops.winograd_tile import pair_tile
from hexsim.int8.prepared import PreparedCall
from hexsim.int8.winograd.convolution import WinogradConvolution, admits_winograd
from hexsim.int8.winograd.self_check import pairs_are_exact
from hexsim.lowering.products import LoweredConvolution


class _Layer:
    """A convolution in the forms that algorithms pack, each made when it is first needed."""

    def __init__(self, call: LoweredConvolution) -> None:
        self.call = call

    @cached_property
    def codes(self) -> ByCodes:
        return ByCodes(self.call)

    @cached_property
    def distances(self) -> ByDistances:
        return ByDistances(self.call)


@dataclass(frozen=True)
class _Algorithm:
    """Which convolutions an algorithm admits, how it prepares them, and what it costs.

    `instructions` are those for four products of each of 8 channels. `weight_bytes` are those of a
    packed weight. `counted` and `doubt` are as in `AlgorithmCandidate`. An algorithm that this one
    `beats` is no candidate beside it: it reads as many bytes with more instructions, and its
    weights would have to be packed to count those.
    """

    name: Name
    admits: Callable[[LoweredConvolution], bool]
    prepare: Callable[[_Layer], PreparedCall]
    instructions: float
    weight_bytes: int
    counted: Callable[[_Layer], float] | None = None
    doubt: float = DOUBT
    beats: Name | None = None

    def candidate(self, layer: _Layer) -> AlgorithmCandidate:
        """Return the algorithm as a candidate for `layer`.

        Its instructions are at least those that could run while weights come from memory, which
        kernels prefetch: with few pixels that decides the time.
        """
        pixels = math.prod(layer.call.output.shape[:3])
        waiting = _FOUR_BY_LANES * self.weight_bytes * _PER_BYTE / pixels
        counted = None
        if self.counted is not None:
            count = self.counted

            def counted() -> float:
                return max(count(layer), waiting)

        prepare = partial(self.prepare, layer)
        return AlgorithmCandidate(
            self.name, max(self.instructions, waiting), prepare, counted, self.doubt
        )


_FOUR_BY_LANES = 4 * LANES
"""Weights of four products of each of 8 channels."""
_PER_BYTE = 0.16
"""Instructions that run while a byte comes from memory (assumed: 25 GB/s, one a clock at 4 GHz)."""
_LOOPS = 13
"""Instructions to which plain loops are equal (calibrated: 21 GMAC/s where pairs do 70)."""
_PAIRS = 4
"""vpmaddwd and add for two products, twice."""
_DOTS = 0.5
"""vpdpbusd, in registers of 16 channels at best."""
_WINOGRAD = {True: _PAIRS / 4, False: 0.25}
"""A quarter of the products by vpmaddwd and add, or by vpdpwssd in registers of 16 channels."""
_TRANSFORMS = 4.0
"""The factor by which Winograd's transforms may lengthen its time. It is slower than direct
products where channels or tiles are few (docs/results/int8-kernels.md), so where it may be faster
it is timed."""

ALGORITHMS = (
    _Algorithm(
        "portable", lambda call: True, lambda layer: PlainConvolution(layer.call), _LOOPS, 2
    ),
    _Algorithm(
        "pairs",
        lambda call: has_vectors(),
        lambda layer: TiledConvolution(layer.distances),
        _PAIRS,
        2,
    ),
    _Algorithm(
        "guarded",
        lambda call: has_vectors(),
        lambda layer: GuardedConvolution(layer.codes),
        PAIRED / 2,
        1,
        lambda layer: layer.codes.guarded.instructions,
    ),
    _Algorithm(
        "dots",
        lambda call: has_dots() and dots_are_exact(),
        lambda layer: TiledConvolution(layer.codes),
        _DOTS,
        1,
        lambda layer: LANES / tile_of(1).lanes,
        beats="guarded",
    ),
    _Algorithm(
        "winograd",
        lambda call: has_vectors() and admits_winograd(call) and pairs_are_exact(),
        lambda layer: WinogradConvolution(layer.call),
        min(_WINOGRAD.values()),
        8,
        lambda layer: _WINOGRAD[pair_tile() is PAIRS],
        _TRANSFORMS,
    ),
)


def prepare_convolution(call: LoweredConvolution) -> PreparedCall:
    """Prepare a dense or grouped convolution by the algorithm that suits it.

    Raises HexsimError if HEXSIM_KERNELS names no algorithm.
    """
    layer = _Layer(call)
    named = wanted()
    for algorithm in ALGORITHMS:
        if algorithm.name == named and algorithm.admits(call):
            return algorithm.prepare(layer)
    admitted = [algorithm for algorithm in ALGORITHMS if algorithm.admits(call)]
    beaten = {algorithm.beats for algorithm in admitted}
    candidates = [
        algorithm.candidate(layer) for algorithm in admitted if algorithm.name not in beaten
    ]
    return choose(candidates, describe(call), partial(seconds_of, call=call), autotuner_cache())


def describe(call: LoweredConvolution) -> str:
    """Return all that decides the time of a convolution, except the values of its weights."""
    window, codes = call.window, call.weights.codes
    symmetric = _MIDDLE[codes.dtype.name]
    return (
        f"{_by(call.inputs[0].shape)} by {_by(codes.shape)}, groups {call.groups}, "
        f"step {_by(window.strides)}, dilation {_by(window.dilations)}, pads {_by(window.pads)}, "
        f"{'symmetric' if call.weights.zero_point == symmetric else 'asymmetric'} {codes.dtype}, "
        f"{'codes' if call.output.bits == 8 else 'sums'}"
        f"{', shifted' if call.stage.shift.any() else ''}"
    )


_MIDDLE = {"uint8": 128, "int8": 0}
"""Zero points of weights that kernels need not correct for."""


def _by(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


@cache
def autotuner_cache() -> AutotunerCache:
    """Return the cached choices of this machine."""
    folder = cache_folder()
    choices = None if folder is None else folder / "choices"
    return AutotunerCache(choices if choices is not None and is_own(choices) else None)
