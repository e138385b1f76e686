"""The table of all instructions: against the classes of our own streams, and against LLVM."""

import re
from pathlib import Path

import pytest

from benchmarks.instruction_set import INCLUDE, TABLE, made, units
from hexsim.hvx.instruction_set import LAST_VERSION, REGISTER, Operand, key
from hexsim.hvx.instructions import OPERATIONS, HvxInstruction
from hexsim.hvx.isa import VERSIONS, CodeMachine, HvxMachine, described
from hexsim.hvx.packets import KIND_SIZE, Insn

DIFFERENT = {
    ("r.max", "slots"): "of the two streams that use it none is full in slots 2 and 3",
    ("r.min", "slots"): "as r.max",
    ("dcfetch", "port"): "the assembler refuses a second one",
    ("l2fetch", "solo"): "not packed with anything, as in the kernels of Hexagon NN",
}
"""Where our classes differ from LLVM's table, and why."""


def text_of(operation: HvxInstruction) -> str:
    """The operation with a register of its own for each operand, as the disassembler writes it."""
    names = {}
    for number, (letter, kind) in enumerate(operation.kinds.items()):
        first, size = 4 * number, KIND_SIZE[kind]
        file = {"w": "v", "z": "v", "l": "r", "s": "r"}.get(kind, kind)
        first = first % 4 if file in "qp" else first
        names[letter] = f"{file}{first + size - 1}:{first}" if size > 1 else f"{file}{first}"
    text = re.sub(r"\{(\w):\w\}", lambda match: names[match[1]], operation.text)
    return re.sub(r"\b(body|outer)\b", "0x0", text.replace("{i}", "0"))


@pytest.mark.parametrize("version", VERSIONS)
def test_units_are_those_of_our_classes(version):
    machine = HvxMachine(version)
    differing = set()
    for operation in OPERATIONS.values():
        if operation.of_class not in machine.classes:
            continue
        ours = machine.classes[operation.of_class]
        theirs = described(text_of(operation), version)
        assert theirs is not None, text_of(operation)
        units_of = theirs.of_class
        for field in ("slots", "port", "blocks_slot1", "solo"):
            if getattr(ours, field) != getattr(units_of, field):
                differing.add((operation.name, field))
        assert set(ours.pipes) == set(units_of.pipes), operation.name
    jumps = {("jump.if", "slots")} if version == 60 else set()  # slots 2 and 3 in LLVM's table
    assert differing == set(DIFFERENT) | jumps


@pytest.mark.parametrize("version", VERSIONS)
def test_clocks_are_those_of_our_classes(version):
    """Vector operands; a result of ours without a figure in the table is only an estimate."""
    machine = HvxMachine(version)
    for operation in OPERATIONS.values():
        if operation.of_class not in machine.classes or operation.fixed:
            continue
        if ".new" in operation.text:  # a value of the same packet, for which nothing waits
            continue
        theirs = described(text_of(operation), version)
        assert theirs is not None
        letters = [*operation.kinds]
        order = sorted(letters, key=lambda letter: operation.text.index(f"{{{letter}:"))
        sources = tuple(f"s{letter}" for letter in operation.sources)
        insn = Insn(operation.name, "t" if "d" in letters else "", sources)
        reads = {part.partition(":")[0]: clock for part, clock in insn.reads(machine)}
        writes = {part.partition(":")[0]: clock for part, clock in insn.writes(machine)}
        operands = [
            operand
            for name, operand in zip(
                REGISTER.findall(text_of(operation)), theirs.operands, strict=True
            )
            if name != "m0"
        ]
        for letter, operand in zip(order, operands, strict=True):
            if operation.kinds[letter] not in "vwz":
                continue
            name = "t" if letter == "d" else f"s{letter}"
            if operand.reads:
                assert reads[name] == operand.reads, (operation.name, letter)
            if operand.writes and operation.of_class != "extract":
                assert writes[name] == operand.writes, (operation.name, letter)


def test_a_key_has_no_registers_and_no_numbers():
    assert key("v0.w += vrmpy(v1.ub,v2.b)") == "v.w += vrmpy(v.ub,v.b)"
    assert key("r1:0 = memd(r29+#-0x8)") == "rr = memd(r+#)"
    assert key("if (!p0.new) jump:nt 0x2f0") == "if (!p.new) jump:nt @"
    assert key("r5 = and(r3,##0x7ffffff8)") == "r = and(r,#)"
    assert key("vmem(r3+#0x0) = vtmp.new") == "vmem(r+#) = v.new"
    assert key("v0 = vmem(r0++m1)") == "v = vmem(r++c)"


def test_a_later_version_takes_one_multiply_for_an_accumulating_dot():
    before, after = (described("v0.w += vrmpy(v1.ub,v2.b)", version) for version in (68, 73))
    assert before is not None
    assert after is not None
    assert [pipes.multiply for pipes in before.of_class.pipes] == [2]
    assert [pipes.multiply for pipes in after.of_class.pipes] == [1]
    assert described("v0.w += vrmpy(v1.ub,v2.b)", 81) == described(
        "v0.w += vrmpy(v1.ub,v2.b)", LAST_VERSION
    )


def test_operands_of_the_table():
    assert Operand.parse("x9/7") == Operand(7, 9)
    assert Operand.parse("w") == Operand(None, 0)
    assert Operand.parse("r5") == Operand(5, None)
    theirs = described("v0 = vmem(r1++#0x1)", 66)
    assert theirs is not None
    assert theirs.operands == (Operand(None, 9), Operand(1, 3))


def test_an_unknown_instruction_is_not_described():
    assert described("v0 = vconjure(v1)", 73) is None


def test_stages_of_llvm():
    assert units("c 300 c0") == ("23", "PM|SM", "")
    assert units("1 2 400 40") == ("0+1", "P", "load")
    assert units("1 20 3c0") == ("0", "P|S|M", "store")
    assert units("f 1800") == ("0123", "PS|MM", "")


def test_the_classes_of_code_are_a_machine():
    machine = CodeMachine(73)
    assert len(machine.classes) > len(HvxMachine(66).classes)
    theirs = described("v1:0 = vshuff(v1,v0,r2)", 73)
    assert theirs is not None
    assert machine.classes[theirs.of_class.name] == theirs.of_class


@pytest.mark.skipif(not Path(INCLUDE).exists(), reason="llvm-19-dev is not installed")
@pytest.mark.slow
def test_the_table_is_what_llvm_says():
    assert TABLE.read_text(encoding="utf-8") == made()
