"""Elements moved in flat memory, and changes of layout, as instruction streams.

Elements moved in flat memory, 128 bytes of the result at a time.

There are four loops, for different ways to assemble such vectors:

- Runs of at least a vector: an unaligned load and a store.
- Shorter runs: each is loaded from its start and shifted in from above (`valign` by the
  length of a run), so a vector of n runs takes n unaligned loads.
- Many short runs from few vectors: each source vector passes a network (`vdelta` and `vrdelta`,
  which together permute and repeat bytes in any order), and other bytes are masked. The
  controls of the networks depend on the shapes alone and are read from memory.
- Rows that become columns, byte by byte: a block of 128 x 128 bytes is transposed in seven steps,
  each of which shuffles pairs of vectors. Sixteen vectors pass four steps in registers, so
  that a block is read and written twice; the eighth step is not needed but counted.

No hand-written kernels are known: Hexagon NN moves short runs in C.

Layout changes: flat NHWC and d32, depth 3 to depth 4, the pixel pairs of V65, activation sums.

Hexagon NN does not pipeline the loops to and from d32: four vectors are loaded, shuffled in two
steps and stored before the next four. These streams are scheduled the same way, as straight code.

Quantises float32 inputs to u8: one pass for the range and one for the codes.

These vector units have no float arithmetic, so masks and shifts extract the parts of a float.

Interleaves pixels of several images, which assembles the phases of a deconvolution.

A vector of d32 holds four pixels of 32 bytes. Two or four images are shuffled by pixels; of three
images, the delta network moves each to its positions in three vectors.
"""

from dataclasses import replace
from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import (
    Kernel,
    Segment,
    Stream,
    call,
    looped,
    plain_loop,
    tile_loop,
    tiled,
)
from hexsim.hvx.streams.elementwise import copy

VECTOR_BYTES = 128
_IN_REGISTERS = 16
"""Vectors in registers at a time, half of all registers."""
_STEPS = 4
"""Steps in which these vectors are shuffled."""
_PASSES = 2
"""Passes of four steps each; seven steps are needed."""


@tiled("move rows")
def rows(s: Stream) -> None:
    """Move runs of a vector or more."""
    s("loadu", "x", "x_in")
    s("store", "", "output", "x")


@lru_cache(maxsize=256)
def runs(machine: HvxMachine, count: int) -> Kernel:
    """Assemble a vector of `count` runs."""
    s, tail, head = Stream(), Stream(), Stream()
    s("loadu", "x", "run")
    s("align", "out", "x", "out", "length")
    s("r.add", "run", "run", "step")
    tail("store", "", "output", "out")
    head("r.mov", "run", "start")
    head("loop0", "", "runs")
    return looped("move runs", machine, "runs", count, s, (tail, head))


@lru_cache(maxsize=256)
def networks(machine: HvxMachine, sources: int) -> Kernel:
    """Assemble a vector from `sources` vectors."""
    s, tail, head = Stream(), Stream(), Stream()
    s("load", "x", "x_in")
    s("load", "first", "controls")
    s("load", "second", "controls")
    s("load", "mask", "controls")
    s("delta", "half", "x", "first")
    s("rdelta", "moved", "half", "second")
    s("and", "wanted", "moved", "mask")
    s("or", "out", "out", "wanted")
    tail("store", "", "output", "out")
    head("xor", "out", "zero", "zero")
    head("r.mov", "x_in", "start")
    head("r.mov", "controls", "table")
    head("loop0", "", "sources")
    return looped("move through networks", machine, "networks", sources, s, (tail, head))


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
        return rows(machine)
    count = -(-VECTOR_BYTES // run)
    one_by_one, at_once = runs(machine, count), networks(machine, sources)
    return min(one_by_one, at_once, key=lambda kernel: kernel.cost.tile)


PIXELS = 16  # four vectors of four pixels


def _transposed(s: Stream, load: str, store: str, name: str) -> None:
    """Transpose 4 x 4 blocks of 32 bytes: four loads, four pair shuffles, four stores."""
    for k in range(4):
        s(load, f"x{k}", f"in{k}" if name == "from" else "in")
    s("shuff.pair", "a", "x1", "x0", "half")
    s("shuff.pair", "b", "x3", "x2", "half")
    s("shuff.pair", "c", "b.lo", "a.lo", "whole")
    s("shuff.pair", "d", "b.hi", "a.hi", "whole")
    for k, part in enumerate(("c.lo", "c.hi", "d.lo", "d.hi")):
        s(store, "", "out" if name == "from" else f"out{k}", part)


@tiled(
    "to d32", plain_loop, pixels=PIXELS,
    note="the hand-written loop waits for its shuffles longer than it has to",
)  # fmt: skip
def to_d32(s: Stream) -> None:
    """Convert four flat vectors to four slices."""
    _transposed(s, "load", "store", "to")


@tiled("from d32", plain_loop, pixels=PIXELS)
def from_d32(s: Stream) -> None:
    """Convert four slices to four flat vectors."""
    _transposed(s, "load", "store", "from")


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


@tiled("from d32, less than a slice", plain_loop)
def from_d32_packed(s: Stream) -> None:
    """Pack the bytes of four pixels of less than a slice, and append them to the vector that is
    being filled; one that is full is stored by `packed_store`."""
    s("load", "x", "in")
    s("delta", "packed", "x", "control")
    s("r.min", "turn", "bytes", "room")
    s("lalign", "filled", "packed", "filled", "turn")
    s("r.sub", "room", "room", "bytes")
    s("r.gt", "more", "room", imm=0)
    s("jump.if", "", "more")


@tiled("from d32, a packed vector", plain_loop)
def packed_store(s: Stream) -> None:
    """Store a full vector of packed pixels, and begin the next one with what is left over."""
    s("store", "", "out", "filled")
    s("r.add", "room", "room", "vector")
    s("lalign", "next", "packed", "packed", "bytes")
    s("jump.if", "", "more")


@lru_cache(maxsize=16)
def from_d32_edge(machine: HvxMachine) -> Kernel:
    """Convert one to three slices of four pixels: shuffled like four, then stored pixel by pixel
    across two vectors, under masks."""
    s, pixel = Stream(), Stream()
    for k in range(4):
        s("load", f"x{k}", f"in{k}")
    s("shuff.pair", "a", "x1", "x0", "half")
    s("shuff.pair", "b", "x3", "x2", "half")
    s("shuff.pair", "c", "b.lo", "a.lo", "whole")
    s("shuff.pair", "d", "b.hi", "a.hi", "whole")
    for k, part in enumerate(("c.lo", "c.hi", "d.lo", "d.hi")):
        s("store.at", "", "scratch", part, imm=k)
    s("loop0", "", "pixels")
    pixel("load", "x", "scratch")
    pixel("r.sub", "turn", "zero", "out")
    pixel("r.add", "end", "out", "left")
    pixel("lalign", "turned", "x", "x", "turn")
    pixel("r.gt", "more", "end", imm=127)
    pixel("jump.if", "", "more")
    pixel("store.at", "", "out", "turned", imm=1)
    pixel("store", "", "out", "turned")
    block, each = straight(machine, s.insns), straight(machine, pixel.insns)
    return Kernel(
        "from d32, last slices",
        machine,
        (
            Segment("four pixels", block, 1, block.length),
            Segment("pixel", each, 4, each.length),
        ),
        call=call(machine),
    )


@lru_cache(maxsize=16)
def few_channels(machine: HvxMachine, size: int) -> Kernel:
    """Move a pixel of `size` bytes to d32 or back by a loop over bytes, as a compiler translates a
    copy with strides of unknown width."""
    byte, pixel = Stream(), Stream()
    byte("r.loadub", "x", "in", imm=1)
    byte("r.storeb", "", "out_at", "x", imm=1)
    pixel("loop0", "", "size")
    pixel("r.add", "in", "start", "in_pitch")
    pixel("r.add", "start", "in", "zero")
    pixel("r.add", "out_at", "out", "out_pitch")
    pixel("r.add", "out", "out_at", "zero")
    pixel("r.add", "count", "count", "minus_one")
    pixel("r.gt", "more", "count", imm=0)
    pixel("jump.if", "", "more")
    per_byte, per_pixel = straight(machine, byte.insns), straight(machine, pixel.insns)
    return Kernel(
        f"pixels of {size} bytes",
        machine,
        (
            Segment("byte", per_byte, size, per_byte.length),
            Segment("pixel", per_pixel, 1, per_pixel.length),
        ),
        call=call(machine),
        pixels=1,
    )


@tiled("to depth 4", plain_loop, pixels=32)
def to_depth_4(s: Stream) -> None:
    """Convert 96 bytes of RGB to 32 pixels of 4 bytes; not pipelined by Hexagon NN."""
    s("loadu", "x", "in")
    s("delta", "spread", "x", "control")
    s("mux", "out", "used", "spread", "filler")
    s("store.new", "", "out_at", "out")


@tiled(
    "pixel pairs", note="two stores are the bound; the hand-written loop is not pipelined that far"
)
def pixel_pairs(s: Stream) -> None:
    """Interleave neighbouring pixels by words for the V65 convolution; each is stored twice."""
    s("load.at", "x", "in")
    s("align", "moved", "x", "last", "pixel")
    s("shuff.pair", "pairs", "moved", "x", "word")
    s("store", "", "first", "pairs.lo")
    s("store", "", "second", "pairs.hi")


@tiled("activation sums")
def activation_sums(s: Stream) -> None:
    """Sum four pixels over the depth, for weights with a zero point and 1x1 filters."""
    s("load.tmp", "x", "in")
    s("dot.ub.Rub.acc", "sum", "x", "ones")


@lru_cache(maxsize=16)
def weights_to_vtcm(machine: HvxMachine) -> Kernel:
    """Copy one vector of weights from L2 to VTCM."""
    kernel = copy(machine)
    return replace(kernel, name="weights to VTCM", in_vtcm=frozenset({"output"}))


NOTE = "bounded by the shift pipe in both; ours takes the sign with a multiplex"


@tiled("float range", pixels=1)
def value_range(s: Stream) -> None:
    """Update the running maximum and minimum by 32 floats, compared as integers."""
    s("load", "x", "in")
    s("max.w", "largest", "largest", "x")
    s("xor", "negative", "x", "sign")
    s("max.w", "smallest", "smallest", "negative")


@tiled("float codes", note=NOTE)
def codes(s: Stream) -> None:
    """Convert 128 floats to 128 codes, by shifts of the mantissa and a fractional multiply."""
    for k in range(4):
        s("load", f"x{k}", "in")
        s("and", f"bits{k}", f"x{k}", "mantissa_mask")
        s("or", f"mantissa{k}", f"bits{k}", "implicit_one")
        s("asl.w.R", f"unsigned{k}", f"x{k}", "one")
        s("lsr.uw.R", f"exponent{k}", f"unsigned{k}", "twenty_four")
        s("sub.w", f"distance{k}", "reference", f"exponent{k}")
        s("lsr.w.w", f"fixed{k}", f"mantissa{k}", f"distance{k}")
        s("gt.w", f"negative{k}", "zero", f"x{k}")
        s("sub.w", f"opposite{k}", "zero", f"fixed{k}")
        s("mux", f"signed{k}", f"negative{k}", f"opposite{k}", f"fixed{k}")
        s("mpye", f"scaled{k}", f"signed{k}", "scale")
        s("mpyo.acc", f"scaled{k}", f"signed{k}", "scale")
        s("add.w", f"code{k}", f"scaled{k}", "offset")
    s("pack.w.h", "low", "code1", "code0")
    s("pack.w.h", "high", "code3", "code2")
    s("pack.h.ub", "out", "high", "low")
    s("store.new", "", "output", "out")


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
