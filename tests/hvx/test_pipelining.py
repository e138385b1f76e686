"""The code around pipelined loops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.scheduling import straight
from tests.thorough import examples

V66 = HvxMachine(66)
BODY = (
    Insn("load", "x", ("p",)),
    Insn("shuff.b", "y", ("x",)),
    Insn("dot.ub.Rub.acc", "sum", ("y", "ones")),
)
STORE = (
    Insn("mpye", "s", ("sum", "m")),
    Insn("mpyo.acc", "s", ("sum", "m")),
    Insn("store", "", ("q", "s")),
)
CLEAR = (Insn("xor", "sum", ("zero", "zero")), Insn("r.mov", "p", ("start",)))


def executed(made):
    steady = made.steady * len(made.loop.insns)
    return (steady if made.steady else 0) + len(made.epilogue_prologue.insns)


@examples(30)
@given(st.integers(1, 40))
def test_every_instruction_of_every_iteration_is_issued_once(iterations):
    made = pipelined(V66, BODY, iterations, STORE, CLEAR)
    assert executed(made) == iterations * len(BODY) + len(STORE) + len(CLEAR)
    assert made.packets + made.stalls == made.slots


def test_more_iterations_cost_the_interval_each():
    slots = [pipelined(V66, BODY, n, STORE, CLEAR).slots for n in (10, 11, 20)]
    assert slots[1] - slots[0] == 1
    assert slots[2] - slots[0] == 10


def test_a_run_is_no_longer_than_its_parts_one_after_another():
    made = pipelined(V66, BODY, 10, STORE, CLEAR)
    serial = 10 * straight(V66, BODY).length + straight(V66, STORE).length
    assert made.slots < serial + straight(V66, CLEAR).length


def test_no_shorter_than_the_resources_of_all_it_issues():
    made = pipelined(V66, BODY, 10, STORE, CLEAR)
    assert made.slots >= 10  # one load port


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_the_accumulator_is_ready_before_it_is_read(iterations):
    made = pipelined(V66, BODY, iterations, STORE, CLEAR)
    times = {
        i.op: t
        for i, t in zip(made.epilogue_prologue.insns, made.epilogue_prologue.times, strict=True)
    }
    last_dot = max(
        (
            t
            for i, t in zip(made.epilogue_prologue.insns, made.epilogue_prologue.times, strict=True)
            if "dot" in i.op
        ),
        default=-1,
    )
    if iterations <= made.loop.stages - 1:
        assert times["mpye"] >= last_dot + 2
