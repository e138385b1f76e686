"""The calls of functions of Hexagon NN, and the program that makes them, with one of our own."""

import pytest

from benchmarks.hexagon_nn_functions import CHIPS, LABELS, Build, Call, calls, cost, counted

COPY = """ .globl copied
 .type copied,@function
copied:
 { loop0(.Lcopy,r0)
   v1 = vmem(r2+#0) }
.Lcopy:
 { v0 = vmem(r1++#1) }
 { vmem(r2++#1) = v0 }:endloop0
 { r6 = memw(r29+#0) }
 { r6 = memw(r6+#0)
   jumpr r31 }
 .size copied,.-copied
"""
"""Vectors, from and to, three words, and a place that is read from the stack."""


def call(is_run, *arguments):
    return Call(("65",), "any", "copied", "copied_h", 1, is_run, arguments)


@pytest.mark.toolchain
def test_a_call_costs_the_packets_of_its_arguments(tmp_path):
    folder = tmp_path / "hexagon" / "asm_src"
    folder.mkdir(parents=True)
    (folder / "copied_h.S").write_text(COPY)
    build = Build(tmp_path, tmp_path)
    packets, clocks = cost(build, "65", call(True, "7", "a", "b+256", "0", "-1", "5", "c+8"))
    assert packets == 1 + 7 * 2 + 2
    assert clocks >= 2 * packets
    assert cost(build, "65", call(False, "7"))[0] == packets


def test_calls_are_those_of_counted_functions():
    known = {version: counted(version) for version in CHIPS}
    functions = {version: set[str]() for version in CHIPS}
    for each in calls():
        assert each.times > 0
        for version in each.versions:
            functions[version].add(each.function)
            labels = LABELS.get(each.function, (each.function,))
            assert any((each.layer, label) in known[version] for label in labels)
    for version, packets in known.items():
        in_assembly = {name for _, name in packets if name.endswith("_asm")}
        assert in_assembly <= functions[version]
