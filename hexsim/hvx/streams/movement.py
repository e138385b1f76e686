"""Elements moved in flat memory, changes of layout, and interleaved or picked pixels.

Vectors of 128 bytes are assembled from whole runs, from shorter runs one by one, or from many short
runs at once by the networks. Where rows become columns, byte by byte, a block of 128 x 128 bytes is
transposed in seven steps, each of which shuffles pairs of vectors. Sixteen vectors pass four steps
in registers, so that a block is read and written twice; the eighth step is not needed but counted.
No hand-written kernels are known: Hexagon NN moves short runs in C.

Hexagon NN does not pipeline the loops to and from d32: four vectors are loaded, shuffled in two
steps and stored before the next four. These streams are scheduled the same way, as straight code.

Interleaved pixels of several images assemble the phases of a deconvolution. Two or four images are
shuffled by pixels; of three, the delta network moves each to its positions in three vectors.
"""

from dataclasses import replace
from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._code import listed
from hexsim.hvx.streams._kernel import Kernel, Segment, Stream, call, plain_loop, tile_loop

VECTOR_BYTES = 128
_IN_REGISTERS = 16
"""Vectors in registers at a time, half of all registers."""
_STEPS = 4
"""Steps in which these vectors are shuffled."""
_PASSES = 2
"""Passes of four steps each; seven steps are needed."""


@lru_cache(maxsize=16)
def transpose(machine: HvxMachine) -> Kernel:
    """Transpose sixteen vectors of a block of 128 x 128 bytes."""
    s = Stream()
    values = [s("load", f"x{k}", "block") for k in range(_IN_REGISTERS)]
    for step in range(_STEPS):
        apart, shuffled = 1 << step, list(values)
        for low in (k for k in range(_IN_REGISTERS) if not k & apart):
            pair = s("shuff.pair", f"p{step}_{low}", values[low | apart], values[low], f"by{step}")
            shuffled[low], shuffled[low | apart] = f"{pair}.lo", f"{pair}.hi"
        values = shuffled
    for value in values:
        s("store", "", "turned", value)
    code = straight(machine, s.insns)
    tile = (Segment("four steps", code, _PASSES, code.length),)
    return Kernel("turn blocks over", machine, tile, call=call(machine), pixels=_IN_REGISTERS * 4)


def move_loop(machine: HvxMachine, run: int, sources: int) -> Kernel:
    """Return the cheapest loop for runs of `run` bytes from `sources` vectors per result vector."""
    if run >= VECTOR_BYTES:
        return listed("rows", machine)
    count = -(-VECTOR_BYTES // run)
    one_by_one, at_once = listed("runs", machine, count), listed("networks", machine, sources)
    return min(one_by_one, at_once, key=lambda kernel: kernel.cost.tile)


@lru_cache(maxsize=16)
def to_d32_edge(machine: HvxMachine, count: int) -> Kernel:
    """Convert `count` slices, one or two, of four pixels that are not aligned: a load for each
    pixel, however few of its bytes are used."""
    s = Stream()
    for k in range(4):
        s("loadu", f"x{k}", "in")
    s("shuff.pair", "a", "x2", "x0", "half")
    s("shuff.pair", "b", "x3", "x1", "half")
    s("shuff.pair", "c", "b.lo", "a.lo", "quarter")
    for part in ("c.lo", "c.hi")[:count]:
        s("store", "", f"out_{part[-2:]}", part)
    return plain_loop("to d32, last slices", machine, s.insns)


@lru_cache(maxsize=16)
def weights_to_vtcm(machine: HvxMachine) -> Kernel:
    """Copy one vector of weights from L2 to VTCM."""
    kernel = listed("copy", machine)
    return replace(kernel, name="weights to VTCM", in_vtcm=frozenset({"output"}))


MOST = 4
"""The most images for which there is a loop."""


@lru_cache(maxsize=16)
def weave_pixels(machine: HvxMachine, images: int) -> Kernel:
    """Interleave a vector of each of `images` (2 to 4) images."""
    s = Stream()
    names = [s("load", f"x{k}", f"in{k}") for k in range(images)]
    if images == 3:
        _by_network(s, names)
    else:
        _by_shuffles(s, names)
    return tile_loop(f"weave {images}", machine, s.insns, pixels=4 * images)


def _by_shuffles(s: Stream, names: list[str]) -> None:
    if len(names) == MOST:
        first, second, third, fourth = names
        s("shuff.pair", "odd", third, first, "pixels")
        s("shuff.pair", "even", fourth, second, "pixels")
        pairs = [("even.lo", "odd.lo"), ("even.hi", "odd.hi")]
    else:
        pairs = [(names[1], names[0])]
    for k, (later, sooner) in enumerate(pairs):
        s("shuff.pair", f"out{k}", later, sooner, "pixels")
        s("store", "", "output", f"out{k}.lo")
        s("store", "", "output", f"out{k}.hi")


def _by_network(s: Stream, names: list[str]) -> None:
    for part in range(len(names)):
        placed = [s("delta", f"{x}_{part}", x, f"control{k}") for k, x in enumerate(names)]
        s("mux", f"two{part}", f"is_first{part % 2}", placed[0], placed[1])
        s("mux", f"out{part}", f"is_third{part % 2}", placed[2], f"two{part}")
        s("store.new", "", "output", f"out{part}")


@lru_cache(maxsize=16)
def pick_channels(machine: HvxMachine, channels: int) -> Kernel:
    """Convert whole pixels of `channels` bytes, as many as a vector holds, to pixels of three.

    A byte permutation of a flat picture is one pass of the delta network, as in Hexagon NN's change
    from depth 3 to 4; that each of these fits a single pass is assumed.
    """
    s = Stream()
    s("loadu", "x", "in")
    s("delta", "y", "x", "control")
    s("storeu", "", "output", "y")
    pixels = 4 * machine.lanes // channels
    return tile_loop("pick channels", machine, s.insns, pixels=pixels)
