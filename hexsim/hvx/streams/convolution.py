"""Dense and depthwise convolution as instruction streams.

Dense convolution in the forms of V60, V65 and V66. All compute 32 output channels (one accumulator
vector) of several pixels: `fw` taps of one slice of 32 input channels are adjacent in d32, and a
tile runs the loop `depth_rows` times (filter height x slices of input), once per row of taps. No
public simulator runs the V65 and V66 dots: their packets are checked by llvm-mc and by the counts
of the hand-written kernels, and their values by slow reference implementations only. These streams
overlap the end of a tile with the beginning of the next; the hand-written ones begin it after the
store. That is 3 to 5 packets per tile, which matters if a tile is short (1x1 with few channels).

Convolution of an image: depth padded to 4, four pixels of 32 channels. One loop pass is one filter
row; every architecture runs it with weights as vectors and activations as scalars, as Hexagon NN
does. The last of an odd number of taps reads half a register pair.

Depthwise convolution: four pixels of 32 channels, taps of a row in one 32-bit word. Rows are
transposed to words of four pixels per channel (two shuffles), and words that cross two vectors are
assembled by shifts, so that one dot product computes up to four taps of a filter row for four
pixels; 5 and 7 wide filters take two words. The sum of the activations under the filter times the
weights' zero point is computed too (dots with a scalar): weights are unsigned on every version.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.streams._code import listed_code
from hexsim.hvx.streams._kernel import (
    Kernel,
    Segment,
    Stream,
    call,
    looped,
    pipelined_segments,
    requantize,
    tile_loop,
)

DEPTH_SLICE = 32  # input channels of one row of taps
V65_PIXELS = 8
OVERLAP = "ours overlaps the end of a tile with the beginning of the next"
WHOLE_ROW = 3  # taps; with more of them in one loop pass its prologue lacks registers
ROWS = "the hand-written loop walks all rows of taps with one address; ours steps at each row"
Code = tuple[Insn, ...]


@lru_cache(maxsize=1024)
def v60(machine: HvxMachine, fw: int, depth_rows: int) -> Kernel:
    """Compute four pixels; u8 weights are vectors, u8 activations scalars. fw: filter width."""
    s, tail, head = listed_code("v60", ahead=2 * machine.vector_bytes).values()
    _next_tile(head)
    tile = _tile(machine, s.insns, 4 * fw, depth_rows, tail.insns, head.insns)
    return Kernel("conv v60", machine, tile, call=call(machine), note=OVERLAP)


@lru_cache(maxsize=1024)
def v65(
    machine: HvxMachine, fw: int, depth_rows: int, slices: int = 2, pixels: int = V65_PIXELS
) -> Kernel:
    """Compute 8 or 6 pixels of one or two slices with signed weights in VTCM.

    A register pair has two pixels. The first and second four channels of each eight are in two
    buffers (movement.pixel_pairs).

    With two slices every weight vector is read from VTCM once per four pixels as `.tmp`, which
    uses no pipe: 8 reads per pass of 8 pixels, as counted in the hand-written kernel.
    """
    s = Stream()
    pairs = range(pixels // 2)
    shared = min(2, machine.multiply_pipes)  # dots in the packet of a `.tmp` load
    for k in range(2):
        for p in pairs:
            if p != pairs[-1]:
                s("r.loadd.at", f"x{k}{p}", f"pixels{k}", imm=8 * p)
        s("r.loadd", f"x{k}{pairs[-1]}", f"pixels{k}", imm=32)
    s("dcfetch", "", "pixels0", imm=256)
    for k in range(2):
        for c in range(slices):
            # For one slice, or an odd number of dots, the weights stay in a register.
            in_register = slices == 1 or (len(pairs) % 2 == 1 and (k, c) == (1, 1))
            for p in pairs:
                name = f"w{k}{c}{0 if in_register else p // shared}"
                if in_register and p == 0:
                    s("load.at", name, f"weights{c}", imm=k)
                elif not in_register and p % shared == 0:
                    s("load.tmp.at", name, f"weights{c}", imm=k)
                s("dot.b.Rttub.acc", f"acc{c}{p}", name, f"x{k}{p}")
    for c in range(slices):
        s("r.addi", f"weights{c}", f"weights{c}", imm=2 * machine.vector_bytes)
    tail, head = Stream(), Stream()
    for c in range(slices):
        tail("r.loadw.at", f"output{c}", "sp", imm=32 + 4 * c)
        for half in range(2):
            four = [
                min(2 * half + k, pairs[-1]) for k in range(2)
            ]  # of six pixels, two are used twice
            values = [f"acc{c}{p}.{part}" for p in four for part in ("lo", "hi")]
            done = requantize(tail, values, f"out{c}{half}")
            tail("store.new.at", "", f"output{c}", done, imm=half)
        for p in pairs:
            head("mov", f"acc{c}{p}.lo", f"bias{c}")
            head("mov", f"acc{c}{p}.hi", f"bias{c}")
    _next_tile(head, "pixels0")
    head("r.add", "pixels1", "pixels0", "second_words")
    return Kernel(
        "conv v65 pair" if slices == 2 else "conv v65 single",
        machine,
        _tile(machine, s.insns, 4 * fw, depth_rows, tail.insns, head.insns),
        call=call(machine),
        pixels=pixels,
        slices=slices,
        in_vtcm=frozenset({"weights0", "weights1"}),
        note=OVERLAP,
    )


@lru_cache(maxsize=1024)
def v66(machine: HvxMachine, fw: int, depth_rows: int) -> Kernel:
    """Compute four pixels with activations in the Z register and signed weights in VTCM.

    One dot is 4 pixels x 32 channels x 4 inputs and uses all pipes. A row of up to three taps is
    one loop pass, so that the step to the next row costs nothing; a wider row has its own loop.
    """
    whole_row = fw <= WHOLE_ROW
    halves = range(2 * fw if whole_row else 1)
    s, tail, head = listed_code("v66", halves=", ".join(map(str, halves))).values()
    _next_tile(head)
    if whole_row:
        s("r.add", "pixels", "pixels", "next_row")
        tile = pipelined_segments(
            "rows of taps", pipelined(machine, s.insns, depth_rows, tail.insns, head.insns)
        )
    else:
        tile = _tile(machine, s.insns, 2 * fw, depth_rows, tail.insns, head.insns)
    vtcm = frozenset({"weights"})
    return Kernel("conv v66", machine, tile, call=call(machine), in_vtcm=vtcm, note=ROWS)


def _next_tile(s: Stream, pixels: str = "pixels") -> None:
    """Emit addresses and loop registers of the next tile, and the jump of the loop over tiles.

    They are stored on the stack, because the inner loop needs the scalar registers.
    """
    for k, name in enumerate(("start", "left", "rows", "steps")):
        s("r.loadw.at", name, "sp", imm=4 * k)
    s("r.mov", pixels, "start")
    s("r.addi", "start_next", "start", imm=128)
    s("r.addi", "left_next", "left", imm=-1)
    s("r.storew.at", "", "sp", "start_next", imm=0)
    s("r.storew.at", "", "sp", "left_next", imm=4)
    s("r.gt", "more", "left_next", imm=0)
    s("jump.if", "", "more")
    s("loop1", "", "rows")
    s("loop0", "", "steps")


def _tile(
    machine: HvxMachine, body: Code, steps: int, depth_rows: int, tail: Code, head: Code
) -> tuple[Segment, ...]:
    """Return `depth_rows` runs of the loop over a row of taps, then `tail` after the last one."""
    row = Stream()
    for address in sorted({i.address for i in body if i.address.startswith("pixels")}):
        row("r.add", address, address, "next_row")
    row("loop0", "", "steps")
    tile: tuple[Segment, ...] = ()
    if depth_rows > 1:
        between = pipelined(machine, body, steps, row.insns)
        tile += pipelined_segments("row of taps", between, depth_rows - 1)
    return tile + pipelined_segments("last row", pipelined(machine, body, steps, tail, head))


DEPTH = 4  # bytes per pixel
WIDE = 7  # a wider filter takes two taps at a time, because its values do not fit the registers
NOTE = "the hand-written tail was inferred from its file size; ours overlaps the next tile"


@lru_cache(maxsize=256)
def convolution(machine: HvxMachine, height: int, width: int, stride: int) -> Kernel:
    """Return a tile of four pixels; height, width: of the filter."""
    taps, passes = (width, height) if width <= WIDE else (2, height * -(-width // 2))
    s = Stream()
    _words(s, taps, stride)
    for tap in range(taps):
        s("load", f"w{tap}", "weights")
        for p in range(4):
            s("dot.ub.Rub.acc", f"acc{p}", f"w{tap}", _word(tap, p, stride))
    s("dcfetch", "", "pixels", imm=256)
    s("r.add", "pixels", "pixels", "row_bytes")
    tail, head = Stream(), Stream()
    tail("store.new", "", "output", requantize(tail, [f"acc{p}" for p in range(4)], "out"))
    for p in range(4):
        head("r.loadw", f"sum{p}", "sums", imm=4)
        head("splat", f"s{p}", f"sum{p}")
        head("add.w", f"acc{p}", f"s{p}", "bias")
    head("r.add", "pixels", "pixels", "next_tile")
    head("r.mov", "weights", "first_weights")
    head("loop0", "", "rows")
    pipelined_loop = pipelined(machine, s.insns, passes, tail.insns, head.insns)
    name = f"first conv {height}x{width} s{stride}"
    tile = pipelined_segments("filter rows", pipelined_loop)
    return Kernel(name, machine, tile, call=call(machine), note=NOTE)


def _words(s: Stream, taps: int, stride: int) -> None:
    """Load the words (pixels of 4 bytes) that four output pixels of a filter row read."""
    if stride % 2:  # neighbouring outputs share words: load all, pair by pair
        for k in range(-(-(3 * stride + taps) // 2)):
            s("r.loadd.at", f"x{k}", "pixels", imm=8 * k)
        return
    for p in range(4):
        for k in range(-(-taps // 2)):
            is_pair = 2 * k + 1 < taps
            op = "r.loadd.at" if is_pair else "r.loadw.at"
            s(op, f"x{p}_{k}", "pixels", imm=DEPTH * p * stride + 8 * k)


def _word(tap: int, pixel: int, stride: int) -> str:
    if stride % 2:
        word = pixel * stride + tap
        return f"x{word // 2}.{'hi' if word % 2 else 'lo'}"
    return f"x{pixel}_{tap // 2}.{'hi' if tap % 2 else 'lo'}"


TAPS = 4  # of a row in one word; the last one is zero for three
SHIFTED = "Hexagon NN joins words with byte shuffles, for stride 2 cheaper than our shifts"


@lru_cache(maxsize=64)
def three_by_three(machine: HvxMachine, stride: int) -> Kernel:
    """Return the kernel of 3x3, stride 1 or 2: one loop pass per four pixels."""
    s, begin = Stream(), Stream()
    for p in range(4):
        s("mov", f"acc{p}", "bias")
    for r in range(3):
        _filter_row(s, machine, f"{r}", stride, words=1, carried=True, fresh_sums=r == 0)
        begin("r.add", f"row{r}", f"start{r}", "next")
    _subtract_and_store(s)
    begin("loop0", "", "tiles")
    name = f"depthwise 3x3 s{stride}"
    return tile_loop(name, machine, s.insns, before=begin.insns, note=SHIFTED)


@lru_cache(maxsize=64)
def by_rows(machine: HvxMachine, height: int, width: int, stride: int) -> Kernel:
    """Return the kernel of a 3, 5 or 7 wide filter: a loop over its rows inside each tile."""
    body, head, tail = Stream(), Stream(), Stream()
    words = -(-(width + 1) // TAPS)  # the same words also serve the next pixel
    for k in range(words):
        body("load", f"w{k}", "weights")
        if stride == 1:  # for the next pixel the taps are moved by one byte
            moved = body("asl.w.R", f"left{k}" if k else "moved0", f"w{k}", "eight")
            if k:
                remainder = body("lsr.uw.R", f"rest{k}", f"w{k - 1}", "twenty_four")
                body("or", f"moved{k}", moved, remainder)
    _filter_row(body, machine, "", stride, words, carried=False, fresh_sums=False)
    body("r.add", "row", "row", "row_bytes")
    for p in range(4):
        head("mov", f"acc{p}", "bias")
        head("xor", f"sum{p}", "zero", "zero")
    head("r.add", "row", "start", "tile")
    head("loop0", "", "rows")
    _subtract_and_store(tail)
    name = f"depthwise {height}x{width} s{stride}"
    return looped(name, machine, "filter rows", height, body, (tail, head))


def _filter_row(
    s: Stream,
    machine: HvxMachine,
    tag: str,
    stride: int,
    words: int,
    *,
    carried: bool,
    fresh_sums: bool,
) -> None:
    """Emit loads, transposes and dots of one filter row for four pixels.

    carried: the first vector is the last one of the previous tile, so it is read before written.
    """
    steps = stride + words - 1
    begun: set[int] = set()

    def load(k: int) -> str:
        name = f"x{k}_{tag}"
        op = "load.tmp" if carried else "load.tmp.at"
        raw = s(op, f"{name}raw", f"row{tag}", imm=0 if carried else k)
        s("shuff.b", f"{name}half", raw)
        return s("shuff.b", name, f"{name}half")

    def dots(word: str, k: int, first_pixel: int) -> None:
        served = [(first_pixel, k, "w"), (first_pixel + 1, k, "moved")]
        if stride == 2:
            served = [(first_pixel // 2 + 2 * j, k - j, "w") for j in range(2)]
        for pixel, number, kind in served:
            if 0 <= number < words:
                accumulate = "" if fresh_sums and pixel not in begun else ".acc"
                begun.add(pixel)
                s(f"dot.ub.Rub{accumulate}", f"sum{pixel}", word, f"zero_{kind}{number}")
                s("dot.ub.ub.acc", f"acc{pixel}", word, f"{kind}{tag}{number}")

    word = f"x{steps}_{tag}" if carried else load(0)
    for k in range(steps):
        dots(word, k, 0)
        high = s("lsr.uw.R", f"high{k}_{tag}", word, "sixteen")
        word = load(k + 1)
        low = s("asl.w.R", f"low{k}_{tag}", word, "sixteen")
        dots(s("or", f"mid{k}_{tag}", high, low), k, 2)


def _subtract_and_store(s: Stream) -> None:
    accumulators = [s("sub.w", f"total{p}", f"acc{p}", f"sum{p}") for p in range(4)]
    s("store.new", "", "output", requantize(s, accumulators, "out"))
