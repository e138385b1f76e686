"""When packets issue: the example of the HVX manual, and the loops of our own scheduler."""

import random

import pytest

from hexsim.deployment.platform import Platform
from hexsim.hvx.code.bounds import LoopBounds, code_graph
from hexsim.hvx.code.disassembly import written_packet
from hexsim.hvx.code.memory import GATHER_SLOTS, GATHER_UNIT, GATHERED_SLOTS, STORED_SLOTS
from hexsim.hvx.code.timing import slots, steady, straight
from hexsim.hvx.isa import CodeMachine
from hexsim.hvx.listing import loop_asm
from hexsim.hvx.modulo import Loop
from hexsim.studies.kernel_probe import probe
from hexsim.studies.probes import KINDS


def packets(*texts, version=73):
    """Packets of one line each, instructions separated by semicolons."""
    return tuple(written_packet("{ " + t.replace("; ", "\n  ") + " }", version) for t in texts)


def test_the_example_of_the_manual():
    """The V65 HVX manual, 4.6: a multiply and an unpack wait for the packet before, sums do not."""
    code = packets(
        "v8.w = vadd(v1.w,v2.w)",
        "v0.w = vadd(v8.w,v3.w)",
        "v5:4.h = vmpy(v0.ub,v1.b)",
        "v2.w = vsub(v2.w,v4.w)",
        "v7:6.uh = vunpack(v2.ub)",
    )
    issues = straight(code)
    assert [issue.stall for issue in issues] == [0, 0, 1, 0, 1]
    assert issues[2].cause == "multiplier waits for v0 of v0.w = vadd(v8.w,v3.w)"
    assert issues[4].cause.startswith("permute unit waits for v2")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("v0.cur = vmem(r0++#1); v2.w += vrmpy(v0.ub,v1.b)",), 1),  # within a packet
        (("v0 = vmem(r0++#1)", "v2.w += vrmpy(v0.ub,v1.b)"), 3),  # a load, then a multiply
        (("v0 = vmem(r0++#1)", "v2.w = vadd(v0.w,v2.w)"), 2),  # a load, then a sum
        (("v0.w = vadd(v0.w,v1.w)",), 1),  # a chain of sums
        (("v0.w = vasl(v0.w,r1)",), 2),  # a chain of shifts
        (("r0 = memw(r0+#0)",), 2),  # a chain of addresses
        (("v0.w = vadd(v1.w,v2.w); vmem(r0+#0) = v0.new",), 1),
        (("v0 = vror(v0,r1)", "v1 = vror(v2,r1)", "v3 = vror(v2,r1)"), 3),  # hidden by others
    ],
)
def test_slots_of_an_iteration(texts, expected):
    assert slots(steady(packets(*texts))) == expected


def test_the_first_packet_waits_for_the_iteration_before():
    issues = steady(packets("v2.w += vrmpy(v0.ub,v1.b)", "v0 = vmem(r0++#1)"))
    assert [issue.stall for issue in issues] == [1, 0]
    assert [issue.slot for issue in issues] == [1, 2]


def own_loops(chip, kind):
    platform = Platform.load(chip)
    probed = probe(kind, KINDS[kind].example.split(" ")[0].rstrip(","), platform)
    for stream in probed.streams:
        for segment in stream.tile:
            if isinstance(segment.code, Loop):
                yield probed.dsp.target.version, segment.code


@pytest.mark.parametrize(
    ("chip", "kind"),
    [
        ("sd855", "conv"),
        ("sd845", "max_pool"),
        ("sd835", "add"),
        *(
            pytest.param(chip, kind, marks=pytest.mark.slow)
            for chip in ("sd835", "sd845", "sd855")
            for kind in KINDS
        ),
    ],
)
def test_loops_of_our_scheduler_take_its_interval(chip, kind):
    """Two programs that share no line of code but the latency rule: scheduler and reader."""
    for version, loop in own_loops(chip, kind):
        texts = loop_asm(loop)
        code = tuple(written_packet(text, version) for text in texts)
        assert [len(packet.instructions) for packet in code] == [t.count("\n") + 1 for t in texts]
        bounds = LoopBounds(CodeMachine(version), code, steady(code))
        assert bounds.slots == loop.interval * len(texts) // len(loop.packets)
        assert bounds.bound <= bounds.slots


TEXTS = (
    "v{a} = vmem(r{r}++#1)",
    "v{a}.w += vrmpy(v{b}.ub,v{c}.b)",
    "v{a}.w = vadd(v{b}.w,v{c}.w)",
    "v{a}.w = vasl(v{b}.w,r{r})",
    "v{a} = vror(v{b},r{r})",
    "vmem(r{s}+#0) = v{b}",
    "r{r} = memw(r{s}+#4)",
    "r{r} = mpyi(r{r},r{s})",
    "v{a}.b = vlut32(v{b}.b,v{c}.b,r{s})",
)


@pytest.mark.parametrize("seed", range(60))
def test_no_loop_is_faster_than_its_bounds(seed):
    choose = random.Random(seed)
    texts = [
        choose.choice(TEXTS).format(
            a=choose.randrange(6),
            b=choose.randrange(6),
            c=choose.randrange(6),
            r=choose.randrange(4),
            s=4 + choose.randrange(3),
        )
        for _ in range(choose.randrange(1, 14))
    ]
    code = packets(*texts)
    bounds = LoopBounds(CodeMachine(73), code, steady(code))
    assert bounds.slots >= max(bounds.resource_bound, bounds.recurrence)
    assert bounds.slots >= len(code)
    for copies in (1, 2, 4):
        unrolled = bounds.unrolled(copies)
        assert unrolled is not None
        most = max(float(needed) for needed in bounds.needs.values())
        assert float(unrolled) >= most - 1e-9
    again = LoopBounds(CodeMachine(73), code, steady(code))
    assert (again.limit, again.needs) == (bounds.limit, bounds.needs)


def test_unrolled_copies_fill_waits():
    code = packets("v0 = vmem(r0++#1)", "v2.w += vrmpy(v0.ub,v1.b)")
    bounds = LoopBounds(CodeMachine(73), code, steady(code))
    assert bounds.slots == 3
    assert float(bounds.unrolled(2) or 0) < 3
    assert "multiplier waits for v0" in bounds.limit
    assert bounds.bound == 1


def test_a_load_behind_a_store_to_its_place_is_not_moved_before_it():
    code = packets("v0 = vmem(r1+#0)", "v0 = vror(v0,r2)", "vmem(r1+#0) = v0")
    bounds = LoopBounds(CodeMachine(73), code, steady(code))
    moving = packets("v0 = vmem(r1++#1)", "v0 = vror(v0,r2)", "vmem(r3++#1) = v0")
    free = LoopBounds(CodeMachine(73), moving, steady(moving))
    assert bounds.recurrence > free.recurrence == 1


@pytest.mark.parametrize(
    ("texts", "stalls"),
    [
        (("vmem(r1+#0) = v0", "v1 = vmem(r1+#0)"), [0, STORED_SLOTS - 1]),
        (("vmem(r1+#0) = v0", "v1 = vmem(r1+#1)"), [0, 0]),
        (("vmem(r1+#0) = v0", "r1 = add(r1,#4)", "v1 = vmem(r1+#0)"), [0, 0, 0]),
        (("vmem(r1+#0) = v0; r1 = add(r1,#4)", "v1 = vmem(r1+#0)"), [0, 0]),
        (("vmem(r1++#1) = v0", "v1 = vmem(r1+#0)"), [0, 0]),
        (("memw(r1+#0) = r0", "r2 = memw(r1+#0)"), [0, 0]),
    ],
)
def test_a_load_waits_for_a_vector_store_to_its_place(texts, stalls):
    """The HVX manual of V73, 3.9.3: some 15 packets between them."""
    issues = straight(packets(*texts))
    assert [issue.stall for issue in issues] == stalls
    if any(stalls):
        assert issues[-1].cause.startswith("load waits for [r1+#0] of vmem(r1+#0) = v0")


def test_a_store_far_enough_before_a_load_makes_no_stall():
    between = ["v2.w = vadd(v2.w,v3.w)"] * (STORED_SLOTS - 1)
    issues = straight(packets("vmem(r1+#0) = v0", *between, "v1 = vmem(r1+#0)"))
    assert not any(issue.stall for issue in issues)


def test_gathers_take_their_time_in_vtcm():
    """Table 3-2 of the same manual."""
    gather = "vtmp.h = vgather(r1,m0,v0.h).h; vmem(r3+#0) = vtmp.new"
    (alone,) = steady(packets(gather))
    assert alone.stall == GATHER_SLOTS - 1
    assert alone.cause.startswith("gather waits for the gather unit")
    code = packets(gather, "v1 = vmem(r3+#0)", "vmem(r4++#1) = v1", "v2 = vmem(r5+#0)")
    assert [issue.stall for issue in straight(code)] == [0, GATHERED_SLOTS - 1, 0, 0]
    bounds = LoopBounds(CodeMachine(73), code, steady(code))
    assert bounds.needs[GATHER_UNIT] == GATHER_SLOTS
    assert bounds.resource_bound == 3  # loads share a port
    assert bounds.recurrence == GATHER_SLOTS
    changed = packets(gather, "r3 = add(r3,#128)", "v1 = vmem(r3+#0)")
    assert [issue.stall for issue in straight(changed)] == [0, 0, 0]


def test_padding_needs_nothing():
    assert len(code_graph(packets("nop; nop; v0 = vmem(r0++#1)"), 1).nodes) == 1
