"""The gates of a recurrent layer, between two matrix multiplications with its state.

For a vector of 32 units, two sums are scaled and added, the result is packed to halfwords, and a
function is looked up in tables of knots and of differences between them, low and high bytes each,
in eight parts. The cell is a few products of words. The matrix multiplications are those of a
fully connected layer (hexsim.hvx.streams.matrices), including its requantise stage.

No hand-written kernel is known.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import Kernel, Segment, Stream, call
from hexsim.layers.recurrent import GATES, Cell

_FUNCTIONS = {"lstm": 5, "gru": 3, "rnn": 1}
"""Functions of each unit; an LSTM has one more, for its output."""
_PRODUCTS = {"lstm": 3, "gru": 3, "rnn": 0}
"""Products of gates with each other, with the cell or with the state."""
TABLE_PARTS = 8
"""A table of 256 entries is eight tables of 32."""


@lru_cache(maxsize=16)
def gates(machine: HvxMachine, cell: Cell) -> Kernel:
    """Compute all gates of 32 units, their cells and their new codes."""
    s = Stream()
    for k in range(GATES[cell]):
        for part in ("input", "state"):
            s("load", f"{part}{k}", f"sums_of_{part}")
            _multiplied(s, f"{part}{k}_scaled", f"{part}{k}", "multipliers")
        s("add.w", f"total{k}", f"input{k}_scaled", f"state{k}_scaled")
        s("add.w", f"biased{k}", f"total{k}", "bias")
    for k in range(_FUNCTIONS[cell]):
        _function(s, k, f"biased{min(k, GATES[cell] - 1)}")
    last = f"gate{_FUNCTIONS[cell] - 1}"
    for k in range(_PRODUCTS[cell]):
        last = _multiplied(s, f"product{k}", f"gate{k}", last)
    code = _multiplied(s, "scaled", last, "output_multiplier")
    s("add.w", "shown", code, "zero_out")
    s("pack.w.h", "halves", "shown", "shown")
    s("pack.h.ub", "codes", "halves", "halves")
    s("storeu", "", "output", "codes")
    done = straight(machine, s.insns)
    tile = (Segment("32 units", done, 1, done.length),)
    return Kernel(f"{cell} gates", machine, tile, call=call(machine))


def _multiplied(s: Stream, name: str, a: str, b: str) -> str:
    s("mpye", name, a, b)
    return s("mpyo.acc", name, a, b)


def _function(s: Stream, k: int, total: str) -> None:
    """Compute a function of 32 words by interpolation between knots."""
    s("asr.w.R", f"short{k}", total, "eight")
    s("pack.w.h", f"half{k}", f"short{k}", f"short{k}")
    s("shuffo.b", f"place{k}", f"half{k}", f"half{k}")
    s("and", f"rest{k}", f"half{k}", "low_byte")
    for table in ("knot", "slope"):
        for byte in ("low", "high"):
            name = f"{table}_{byte}{k}"
            s("lut32", name, f"place{k}", f"{table}_{byte}0", "part0")
            for part in range(1, TABLE_PARTS):
                s("lut32.or", name, f"place{k}", f"{table}_{byte}{part // 4}", f"part{part % 4}")
        s("shuffoe.b", f"{table}{k}", f"{table}_high{k}", f"{table}_low{k}")
    s("mpy.h.h.frac", f"more{k}", f"slope{k}.lo", f"rest{k}")
    s("add.h.sat", f"value{k}", f"knot{k}.lo", f"more{k}")
    s("asl.w.R", f"gate{k}", f"value{k}", "sixteen")
