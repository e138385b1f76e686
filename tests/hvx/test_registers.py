"""Register allocation: values that live at once never share a register; llvm-mc takes the text."""

import re

import pytest

from hexsim.errors import HexsimError
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.listing import loop_asm, straight_asm
from hexsim.hvx.modulo import modulo
from hexsim.hvx.packets import Insn
from hexsim.hvx.scheduling import straight

V66 = HvxMachine(66)


def test_a_value_that_outlives_the_interval_gets_copies():
    body = (
        Insn("load", "x", ("p",)),
        Insn("mpye", "y", ("x", "m")),
        Insn("asr.w.R", "z", ("y", "s")),
        Insn("store.new", "", ("q", "z")),
    )
    loop = modulo(V66, body)
    text = "\n".join(loop_asm(loop))
    assert loop.interval == 1
    assert len(set(re.findall(r"(v\d+) = vmem", text))) >= 2


def test_pairs_are_aligned_and_halves_named():
    code = straight(
        V66,
        [
            Insn("mpy.ub.Rub", "p", ("x", "r")),
            Insn("add.w", "s", ("p.lo", "p.hi")),
            Insn("store", "", ("q", "s")),
        ],
    )
    text = straight_asm(code)
    pair = re.search(r"v(\d+):(\d+)\.uh", text[0])
    assert int(pair[1]) == int(pair[2]) + 1
    assert int(pair[2]) % 2 == 0
    assert f"vadd(v{pair[2]}.w,v{pair[1]}.w)" in text[1]


def test_too_many_values_are_refused():
    loads = [Insn("load", f"x{k}", ("p",)) for k in range(80)]
    adds = [Insn("max.ub", f"y{k}", (f"x{k}", f"x{79 - k}")) for k in range(40)]
    with pytest.raises(HexsimError, match="registers"):
        straight_asm(straight(V66, [*loads, *adds]))
