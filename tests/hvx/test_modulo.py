"""Modulo scheduling: between the resource bound and clang, and never breaking a rule."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.hvx.dependences import instruction_edges
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.modulo import modulo
from hexsim.hvx.packets import Insn, fits
from tests.oracle.reference_loops import HERE, loops
from tests.thorough import examples

REFERENCE = json.loads((HERE / "reference_loops.json").read_text())


@pytest.mark.toolchain
@pytest.mark.parametrize("version", [60, 66])
def test_the_committed_loops_are_what_clang_makes(version):
    committed = [e for e in REFERENCE if (e["version"], e["unroll"]) == (version, 2)]
    assert loops(version, 2) == committed


def insns_of(entry):
    return tuple(Insn(op, dst, tuple(src), imm) for op, dst, src, imm in entry["insns"])


@pytest.mark.parametrize(
    "entry", REFERENCE, ids=[f"{e['kernel']}-v{e['version']}-x{e['unroll']}" for e in REFERENCE]
)
def test_between_the_bound_and_clang(entry):
    loop = modulo(HvxMachine(entry["version"]), insns_of(entry))
    assert loop.bound <= loop.interval <= entry["packets"]


def obeys(loop):
    for e in instruction_edges(loop.machine, loop.insns, loop=True):
        tied = loop.times[e.of] == loop.times[e.to] and e.distance == 0
        passes = any(
            form in i.op
            for i in (loop.insns[e.of], loop.insns[e.to])
            for form in (".cur", ".tmp", ".new")
        )
        wait = loop.times[e.to] + e.distance * loop.interval - loop.times[e.of]
        assert wait >= e.packets or (tied and passes), (loop.insns[e.of], loop.insns[e.to])
    for packet in loop.packets:
        assert packet.legal(loop.machine)


VECTOR = st.sampled_from(["x", "y", "m"])


@st.composite
def bodies(draw):
    """Random loop bodies: loads, chains, accumulators."""
    made = ["x", "y", "m"]
    insns = []
    for k in range(draw(st.integers(2, 14))):
        op = draw(
            st.sampled_from(
                ["load", "max.ub", "mpye", "pack.w.h", "asr.w.R", "dot.ub.b.acc", "r.loadw"]
            )
        )
        pick = [draw(st.sampled_from(made)) for _ in range(2)]
        if op in ("load", "r.loadw"):
            insns.append(Insn(op, f"v{k}" if op == "load" else f"r{k}", (f"p{k % 2}",), 4))
        elif op == "asr.w.R":
            insns.append(Insn(op, f"v{k}", (pick[0], "shift")))
        elif op == "dot.ub.b.acc":
            insns.append(Insn(op, "acc", (pick[0], pick[1])))
        else:
            insns.append(Insn(op, f"v{k}", (pick[0], pick[1])))
        if insns[-1].dst.startswith("v"):
            made.append(insns[-1].dst)
    return tuple(insns)


@examples(60)
@given(bodies(), st.sampled_from([1, 2, 4]))
def test_random_loops_obey_every_dependence_and_every_packet_rule(body, pipes):
    loop = modulo(HvxMachine(66, multiply_pipes=pipes), body)
    obeys(loop)
    assert loop.bound <= loop.interval <= 4 * len(body) + 4


@examples(40)
@given(bodies())
def test_more_pipes_never_raise_the_bound(body):
    assert (
        modulo(HvxMachine(66, multiply_pipes=4), body).bound
        <= modulo(HvxMachine(66), body).bound
        <= modulo(HvxMachine(66, multiply_pipes=1), body).bound
    )


def test_stalls_are_slots_without_a_packet():
    chain = (
        Insn("mpye", "a", ("b", "m")),  # b of the iteration before
        Insn("mpye", "b", ("a", "m")),
    )
    loop = modulo(HvxMachine(66), chain)
    assert (loop.interval, len(loop.packets), loop.stalls) == (4, 2, 2)


def test_equal_streams_are_scheduled_once():
    body = (Insn("load", "x", ("p",)), Insn("max.ub", "y", ("x", "z")))
    assert modulo(HvxMachine(66), body) is modulo(HvxMachine(66), tuple(body))


def test_fits_is_about_classes_only():
    assert fits(HvxMachine(66), ("multiply", "multiply"))
    assert not fits(HvxMachine(66), ("multiply", "multiply", "multiply"))
