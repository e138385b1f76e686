"""What the machine this runs on may lack: every tile compiled for CPUs that have it."""

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from hexsim.int8.machine_code.inner_loops import microkernel
from hexsim.int8.machine_code.inner_loops.microkernel import DOTS_256, DOTS_512, GUARDED, PAIRS

FEATURES = {"haswell": "+avx2", "alderlake": "+avx2,+avxvnni", "icelake-server": "+avx512vnni"}
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


def assembly(tile, panels, cpu):
    module = ir.Module("tile")
    word = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [word] * 6), "multiply")
    builder = ir.IRBuilder(function.append_basic_block())
    microkernel.store_product(builder, tile, panels, function.args)
    builder.ret_void()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu=cpu, features=FEATURES[cpu], opt=3)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    return machine.emit_assembly(parsed)


@pytest.mark.parametrize(
    ("tile", "panels", "cpu", "instruction", "register"),
    [
        (PAIRS, 1, "haswell", "vpmaddwd", "%ymm"),
        (GUARDED, 1, "haswell", "vpmaddubsw", "%ymm"),
        (DOTS_256, 1, "alderlake", "vpdpbusd", "%ymm"),
        (DOTS_512, 2, "icelake-server", "vpdpbusd", "%zmm"),
        (DOTS_512, 1, "icelake-server", "vpdpbusd", "%zmm"),
    ],
)
def test_inner_loop_holds_its_sums_in_registers(tile, panels, cpu, instruction, register):
    text = assembly(tile, panels, cpu)
    used = [line for line in text.splitlines() if instruction in line]
    vectors = panels * microkernel.COLUMNS // tile.lanes
    loops = 3 if tile is GUARDED else 1  # two steps together, then one
    assert len(used) == tile.rows * vectors * loops
    assert all(register in line for line in used)
    assert f"{register}0" in text
    assert "Spill" not in "".join(line for line in text.splitlines() if register in line)
