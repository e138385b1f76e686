"""Which algorithm computes a convolution: by estimated instructions, then by measured time.

1. Instructions are estimated for each algorithm of the table; those that cannot be the fastest are
   dropped. For most layers one is left.
2. The others are timed here, on the layer's own shape with its own packed weights, in turns.

Answers are cached beside the kernels that were measured, in a file of one line for each question:
the answer, the question, and the times that decided. The folder's name changes with the kernels'
source, numba and the CPU (`machine_code.jit`), so an answer is never used with other kernels. Files
are replaced whole: of two processes that measure the same at once, the last to write counts.

Values never depend on the choice. HEXSIM_KERNELS overrides it: the algorithm that it names is used
wherever the CPU and the layer admit it.

A FullyConnected layer is a convolution whose pixels are the items of the batch, so weights are read
once for several items. For a single item the time is that of reading the weights, which the tiles
of a convolution read as fast as memory delivers them, although all rows but one are idle.
"""

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np

from hexsim.errors import HexsimError
from hexsim.files.atomic_write import outside_transaction, write_text
from hexsim.files.private import is_own
from hexsim.int8.commands import KernelCommandList
from hexsim.int8.gemm.convolution import (
    ByCodes,
    ByDistances,
    GuardedConvolution,
    PlainConvolution,
    TiledConvolution,
)
from hexsim.int8.gemm.panels import LANES, PAIRED
from hexsim.int8.gemm.self_check import dots_are_exact, pairs_are_exact
from hexsim.int8.machine_code.features import Name, has_dots, has_vectors, wanted
from hexsim.int8.machine_code.inner_loops.microkernel import PAIRS, tile_of
from hexsim.int8.machine_code.inner_loops.winograd import pair_tile
from hexsim.int8.machine_code.jit import cache_folder
from hexsim.int8.step import Buffers, PreparedCall, Workspace
from hexsim.int8.winograd import WinogradConvolution, admits_winograd
from hexsim.layers import Window
from hexsim.lowering.lowered_call import LoweredCall
from hexsim.lowering.products import LoweredConvolution, LoweredFullyConnected
from hexsim.records import dataclass, replace

_SEPARATOR = " | "


class AutotunerCache:
    """Answers of this process and, if there is a `folder` to store them in, of earlier ones."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, str] = {}

    def answer(self, question: str) -> str | None:
        """Return what was chosen, None if that is not known."""
        if question not in self._known and self._folder is not None:
            try:
                answer, stored_question, _ = (
                    self._file(question).read_text("utf-8").split(_SEPARATOR)
                )
            except (OSError, ValueError):  # ValueError: not what `store` writes
                return None
            if stored_question == question:
                self._known[question] = answer
        return self._known.get(question)

    def store(self, question: str, answer: str, because: str) -> None:
        """Store an answer, on disk if that can be written."""
        self._known[question] = answer
        if self._folder is None:
            return
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with outside_transaction():  # stored even if the command fails
                write_text(
                    self._file(question), _SEPARATOR.join((answer, question, because)) + "\n"
                )
        except (OSError, HexsimError):
            pass  # the next run measures again

    def _file(self, question: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(question.encode()).hexdigest()[:16]}.txt"


DOUBT = 1.15
"""Calibrated: for the convolutions of four networks in three modes of weights, those whose
estimates often name the slower of `pairs` and `guarded` lie within this factor."""


@dataclass(frozen=True)
class AlgorithmCandidate:
    """An algorithm that computes a layer.

    `instructions` are those it takes at best, in a unit that all candidates for the layer share.
    `counted`, which is expensive to call, returns those it takes if that depends on the weights.
    `doubt` is the factor by which its time may be longer than the instructions suggest, relative to
    the others. `prepare` packs the weights.
    """

    name: Name
    instructions: float
    prepare: Callable[[], PreparedCall]
    counted: Callable[[], float] | None = None
    doubt: float = DOUBT


def choose(
    candidates: Sequence[AlgorithmCandidate],
    layer: str,
    measure: Callable[[Sequence[PreparedCall]], Sequence[float]],
    cache: AutotunerCache,
) -> PreparedCall:
    """Return the layer as the fastest of `candidates` prepared it.

    `layer` says all that decides the time except the instructions; `measure` returns seconds for
    each prepared call. The packed weights of the other candidates are dropped.
    """
    contenders = _near_best(candidates)
    if len(contenders) == 1:
        return contenders[0][0].prepare()
    question = f"{layer}: " + ", ".join(
        f"{candidate.name} {count:.2f}" for candidate, count in contenders
    )
    answer = cache.answer(question)
    for candidate, _ in contenders:
        if candidate.name == answer:
            return candidate.prepare()
    prepared = [candidate.prepare() for candidate, _ in contenders]
    seconds = measure(prepared)
    fastest = min(range(len(contenders)), key=lambda index: seconds[index])
    names = [candidate.name for candidate, _ in contenders]
    times = (f"{name} {1e6 * time:.1f} us" for name, time in zip(names, seconds, strict=True))
    cache.store(question, names[fastest], ", ".join(times))
    return prepared[fastest]


def _near_best(candidates: Sequence[AlgorithmCandidate]) -> list[tuple[AlgorithmCandidate, float]]:
    bound = math.inf
    counted = []
    for candidate in sorted(candidates, key=lambda candidate: candidate.instructions):
        if candidate.instructions > bound:
            break
        count = candidate.counted() if candidate.counted else candidate.instructions
        bound = min(bound, count * candidate.doubt)
        counted.append((candidate, count))
    return [(candidate, count) for candidate, count in counted if count <= bound]


_ROUNDS = 9
_ENOUGH_S = 0.01
"""No round follows one that ends later than this: a long layer needs no second measurement."""


def seconds_of(
    prepared: Sequence[PreparedCall],
    call: LoweredCall,
    clock: Callable[[], float] = time.thread_time,
) -> list[float]:
    """Return the shortest time of each of several ways to compute `call`, by `clock`.

    They take turns, so that each finds the caches as the others leave them, and run in one thread,
    whose CPU time other programs disturb least. The first turn compiles and does not count.
    """
    inputs = [np.full(x.shape, x.zero_point, x.encoding.dtype) for x in call.inputs]
    kind = call.output.encoding.dtype if call.output.bits == 8 else np.dtype(np.int32)
    output = np.empty(call.output.shape, kind)  # kernels write sums for 16-bit outputs
    at = Buffers(inputs, output, Workspace())
    command_lists = [KernelCommandList(way.steps(at), threads=1) for way in prepared]
    for commands in command_lists:
        commands.run()
    best = [math.inf] * len(command_lists)
    first_start = clock()
    for _ in range(_ROUNDS):
        for index, commands in enumerate(command_lists):
            start = clock()
            commands.run()
            best[index] = min(best[index], clock() - start)
        if clock() - first_start > _ENOUGH_S:
            break
    return best


class _TunedCall:
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
    prepare: Callable[[_TunedCall], PreparedCall]
    instructions: float
    weight_bytes: int
    counted: Callable[[_TunedCall], float] | None = None
    doubt: float = DOUBT
    beats: Name | None = None

    def candidate(self, layer: _TunedCall) -> AlgorithmCandidate:
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
    layer = _TunedCall(call)
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


def prepare_fully_connected(call: LoweredFullyConnected) -> PreparedCall:
    """Prepare a fully connected layer as the convolution that it is."""
    (x,), (depth, outputs) = call.inputs, call.weights.codes.shape
    batch = math.prod(x.shape) // depth
    return prepare_convolution(
        LoweredConvolution(
            layer=call.layer,
            inputs=(replace(x, shape=(1, 1, batch, depth)),),
            output=replace(call.output, shape=(1, 1, batch, outputs)),
            weights=replace(call.weights, codes=call.weights.codes.reshape(1, 1, depth, outputs)),
            window=Window((1, 1)),
            groups=1,
            stage=call.stage,
        )
    )
