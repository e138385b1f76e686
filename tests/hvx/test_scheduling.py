"""List scheduling and the latency rule."""

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn
from hexsim.hvx.scheduling import straight

V66 = HvxMachine(66)


def test_the_latency_example_of_the_hvx_manual():
    """V8=VADD; V0=VADD(V8) no wait; V1=VMPY(V0) waits; V2=VSUB(V2,V1) no; VUNPACK(V2) waits."""
    code = straight(
        V66,
        [
            Insn("add.w", "v8", ("x", "y")),
            Insn("add.w", "v0", ("v8", "y")),
            Insn("mpye", "v1", ("v0", "y")),
            Insn("sub.w", "v2", ("x", "v1")),
            Insn("unpack.ub", "v3", ("v2",)),
        ],
    )
    assert code.times == (0, 1, 3, 4, 6)
    assert code.stalls == 2
    assert len(code.packets) == 5


def test_new_value_store_and_tmp_load_share_the_packet_of_their_partner():
    code = straight(
        V66,
        [
            Insn("load.tmp", "x", ("p",)),
            Insn("max.ub", "y", ("x", "zero")),
            Insn("store.new", "", ("q", "y")),
        ],
    )
    assert code.length == 1


def test_an_extracted_scalar_comes_late():
    code = straight(
        V66,
        [Insn("extract", "r", ("v", "i")), Insn("splat", "s", ("r",))],
    )
    assert code.times == (0, 15)


def test_independent_work_fills_the_wait():
    chain = [Insn("mpye", "a", ("x", "m")), Insn("asr.w.R", "b", ("a", "s"))]
    alone = straight(V66, chain)
    filled = straight(
        V66, [*chain, Insn("max.ub", "c", ("u", "v")), Insn("min.ub", "d", ("c", "v"))]
    )
    assert filled.length == alone.length
    assert (alone.stalls, filled.stalls) == (1, 0)


def test_a_wide_multiply_occupies_a_single_pipe_twice():
    narrow = HvxMachine(66, multiply_pipes=1)
    code = straight(narrow, [Insn("mpye", f"a{k}", ("x", "m")) for k in range(3)])
    assert code.times == (0, 2, 4)
