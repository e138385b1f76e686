"""Executed programs: issue in any order, addresses, L2, and a program under QEMU."""

import random
import subprocess
from collections import Counter

import pytest

import hexsim
from hexsim.hvx.code import emulation
from hexsim.hvx.code.disassembly import CodePacket
from hexsim.hvx.code.emulation import Emulation
from hexsim.hvx.code.execution import LINE_BYTES, Cache, Execution
from hexsim.hvx.code.memory import accesses
from hexsim.hvx.code.timing import Issuer, Thread
from tests.hvx.code import compiled
from tests.hvx.code.test_timing import packets
from tests.oracle.toolchain import CLANG, LLD

CODE = tuple(
    CodePacket(4 * number, packet.instructions)
    for number, packet in enumerate(
        packets(
            "v0 = vmem(r0++#1)",
            "v2.w += vrmpy(v0.ub,v1.b)",
            "v2.w = vasl(v2.w,r1)",
            "r1 = memw(r2+#0)",
            "r2 = add(r1,#1)",
            "v1 = vror(v2,r1)",
            "if (!p0) vmem(r3+#-2) = v1",
        )
    )
)


@pytest.mark.parametrize("seed", range(20))
def test_packets_in_any_order_issue_as_on_a_thread(seed):
    order = random.Random(seed).choices(CODE, k=60)
    thread, issuer, state = Thread(), Issuer(), 0
    for packet in order:
        state, stall = issuer.issue(state, packet)
        assert stall == thread.issue(packet).stall


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("v0 = vmem(r1+#-0x2)", (-256, (("r1", 0),))),
        ("v0 = vmem(r1++#0x1)", (0, (("r1", 0),))),
        ("vmem(r1++m0) = v0", (0, (("r1", 0),))),
        ("r0 = memw(r1+#0x8)", (8, (("r1", 0),))),
        ("r0 = memub(r1+r2<<#0x2)", (0, (("r1", 0), ("r2", 2)))),
        ("r0 = memh(r2<<#0x1+##0x30180)", (0x30180, (("r2", 1),))),
        ("r0 = memw(gp+#0x10)", (16, (("gp", 0),))),
        ("r0 = memw(r1=##0x4000)", (0x4000, ())),
        ("memd(r29+#0x10) = r17:16", (16, (("r29", 0),))),
        ("r0 = memw(r1++#0x4:circ(m1))", (0, (("r1", 0),))),
    ],
)
def test_addresses(text, terms):
    ((instruction,),) = (packet.instructions for packet in packets(text))
    (access,) = accesses(instruction.text)
    assert access.terms == terms


@pytest.mark.parametrize(
    ("text", "register", "line"),
    [("allocframe(#16)", "r29", 99), ("deallocframe", "r30", 100), ("dealloc_return", "r30", 100)],
)
def test_frames_of_the_stack_are_accesses(text, register, line):
    (packet,) = packets(text)
    execution = Execution({packet.address: packet}, [Cache(8)])
    execution.follow([(b"0", packet.address, {register: 100 * LINE_BYTES})])
    assert list(execution.caches[0]._kept) == [line]
    assert execution.caches[0]._kept[line] == text.startswith("alloc")


@pytest.mark.parametrize("seed", range(5))
def test_l2_keeps_what_was_used_last(seed):
    """Against a list, on which the line that is used moves to the end."""
    choose, lines = random.Random(seed), 8
    cache, kept, written = Cache(lines), [], set()
    counts = Counter()
    for _ in range(400):
        line, stored, whole = choose.randrange(14), choose.random() < 0.4, choose.random() < 0.5
        cache.use(line, stored=stored, whole=whole)
        counts["hits" if line in kept or (stored and whole) else "misses"] += 1
        kept = [*(each for each in kept if each != line), line]
        written |= {line} if stored else set()
        if len(kept) > lines:
            gone = kept.pop(0)
            counts["written back"] += gone in written
            written.discard(gone)
    assert (cache.hits, cache.misses, cache.written_back) == (
        counts["hits"],
        counts["misses"],
        counts["written back"],
    )


def test_accesses_follow_registers_and_predicates():
    registers = {"r0": 0x1000, "r3": 0x1000, "p3_0": 0, "r2": 0x8000}
    executed = [(b"0", packet.address, registers) for packet in CODE]
    execution = Execution(
        {packet.address: packet for packet in CODE}, [Cache(4)], [range(0x8000, 0x9000)]
    )
    execution.follow([*executed, (b"0", 400, registers)])
    assert execution.outside == 1
    assert execution.runs.total() == len(CODE)
    assert execution.l2_bytes == 2 * LINE_BYTES
    assert execution.vtcm_bytes == 4
    assert execution.vtcm_scalars == 1
    registers["p3_0"] = 1  # the store is conditional
    again = Execution({packet.address: packet for packet in CODE}, [Cache(4)])
    again.follow(executed)
    assert again.l2_bytes == LINE_BYTES


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that runs `dot` twice, and ends with the number of its arguments."""
    return compiled.program(tmp_path_factory.mktemp("program"))


@pytest.mark.toolchain
def test_a_program_is_counted_packet_by_packet(program):
    answer = hexsim.kernel(program, chip="sd8gen2", run=[])
    run = answer.run
    assert run is not None
    assert run.printed == "done\n"
    assert run.remarks == ()
    (loop,) = (loop for loop in answer.loops if loop.function == "dot")
    assert loop.trips == 2 * 1023  # one iteration is before the loop
    assert loop.total_clocks == pytest.approx(loop.trips * loop.clocks, abs=2 * loop.clocks)
    assert run.packets == sum(each.executed or 0 for each in answer.functions)
    assert run.l2_bytes == 2 * (2 * 1024 + 1) * 128
    arrays = 2 * 1024 * 128  # they stay in L2 for the second pass, if all of it is there
    assert arrays <= run.rates[0].ddr_bytes < 1.01 * arrays
    assert run.rates[5].ddr_bytes > 1.9 * arrays
    assert [rate.clocks for rate in run.rates] == sorted(rate.clocks for rate in run.rates)
    assert run.rates[0].clocks >= sum(each.total_clocks or 0 for each in answer.functions)
    assert "done" in str(answer)


@pytest.mark.toolchain
def test_one_function_is_counted_as_in_the_whole(program):
    whole = hexsim.kernel(program, chip="sd8gen2", run=["a", "b"])
    of_function = hexsim.kernel(program, chip="sd8gen2", run=["a", "b"], function="dot")
    assert whole.run is not None
    assert whole.run.remarks == ("it ended with status 2",)
    (alone,) = of_function.functions
    assert alone == next(each for each in whole.functions if each.name == "dot")


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"run": [], "trips": {"x": 1}}, "that is not run"),
        ({"run": [], "function": "never"}, "unknown function of .*program 'never'"),
        ({"run": "words"}, "run is 'words' .str."),
        ({"run": [3]}, "run is .3. .list."),
        ({"run": ["a\0b"]}, "run is a list of words"),
        ({"trips": {"dot+0x30": "x"}}, "trips is .*'x'"),
        ({"trips": {"dot+0x30": -1}}, "dot.0x30=-1: give a whole number"),
        ({"trips": {"dot": 2}}, "unknown loop of"),
        ({"run": [], "chip": "sd855"}, "is code for V68, and sd855 has V66"),
        ({"run": [], "shape": "8x8x32:32:1x1"}, "run is for a file"),
    ],
)
def test_what_cannot_be_run_is_refused(program, options, says):
    with pytest.raises(hexsim.HexsimError, match=says):
        hexsim.kernel(program, **{"chip": "sd8gen2", **options})


def linked(assembly, folder):
    """Make a program of assembly."""
    source, made, program = folder / "code.s", folder / "code.o", folder / "code"
    source.write_text(assembly)
    target = "--target=hexagon-unknown-linux-musl"
    subprocess.run([CLANG, target, "-mv68", "-c", str(source), "-o", str(made)], check=True)
    subprocess.run([LLD, "-static", "-o", str(program), str(made)], check=True)
    return program


@pytest.mark.toolchain
def test_an_object_and_an_unknown_instruction_are_refused(program, tmp_path):
    with pytest.raises(hexsim.HexsimError, match="linked for Linux"):
        hexsim.kernel(program.with_name("dot.o"), chip="sd8gen2", run=[])
    unknown = linked(
        ".globl _start\n.type _start,@function\n_start: { r0 = #1 }\n{ r1 = #2 }\n"
        ".type other,@function\nother: .word 0xffffffff\n",
        tmp_path,
    )
    with pytest.raises(hexsim.HexsimError, match="does not know the next instruction"):
        hexsim.kernel(unknown, chip="sd8gen2", run=[])


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("limit", "most", "says"),
    [("MOST_PACKETS", 1000, "packets"), ("_MOST_SECONDS", 0.5, "0.5 seconds")],
)
def test_a_program_without_an_end_is_stopped(tmp_path, monkeypatch, limit, most, says):
    endless = linked(".globl _start\n.type _start,@function\n_start: { jump _start }\n", tmp_path)
    monkeypatch.setattr(emulation, limit, most)
    run = hexsim.kernel(endless, chip="sd8gen2", run=[]).run
    assert run is not None
    assert run.packets > 100
    assert any("stopped after" in remark and says in remark for remark in run.remarks)
    assert not any("SIGKILL" in remark for remark in run.remarks)


@pytest.mark.toolchain
@pytest.mark.parametrize("function", [None, "_start"])
def test_a_program_that_crashes_is_refused_with_its_place(tmp_path, function):
    text = "_start: { r0 = #0 }\n{ memw(r0+#0) = r0 }\n"
    crash = linked(f".globl _start\n.type _start,@function\n{text}", tmp_path)
    with pytest.raises(hexsim.HexsimError, match=r"SIGSEGV behind address \w+, so that"):
        hexsim.kernel(crash, chip="sd8gen2", run=[], function=function)


def test_without_qemu_the_package_is_named(monkeypatch, tmp_path):

    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(hexsim.HexsimError, match="apt install qemu-user"):
        list(Emulation(tmp_path / "program").packets())
