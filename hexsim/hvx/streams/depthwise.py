"""Depthwise convolution: four pixels of 32 channels, taps of a row in one 32-bit word.

Rows are transposed to words of four pixels per channel (two shuffles), and words that cross two
vectors are assembled by shifts, so that one dot product computes up to four taps of a filter row
for four pixels; 5 and 7 wide filters take two words. The sum of the activations under the filter
times the weights' zero point is computed in addition (dots with a scalar), since weights are
unsigned on every version, as in the hand-written kernels.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, Stream, looped, requantize, tile_loop

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
