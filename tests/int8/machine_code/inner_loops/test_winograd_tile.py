"""What the machine this runs on may lack: every tile compiled for CPUs that have it."""

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from hexsim.int8.machine_code.inner_loops import winograd_tile
from hexsim.int8.machine_code.inner_loops.microkernel import PAIRS
from hexsim.int8.machine_code.inner_loops.winograd_tile import PAIRS_512
from hexsim.int8.panel import COLUMNS

FEATURES = {"haswell": "+avx2", "icelake-server": "+avx512vnni"}
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


def assembly(tile, cpu):
    module = ir.Module("tile")
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 6), "multiply")
    builder = ir.IRBuilder(function.append_basic_block())
    winograd_tile._multiply(builder, tile, function.args)
    builder.ret_void()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu=cpu, features=FEATURES[cpu], opt=3)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    return machine.emit_assembly(parsed)


@pytest.mark.parametrize(
    ("tile", "cpu", "instruction", "register"),
    [
        (PAIRS, "haswell", "vpmaddwd", "%ymm"),
        (PAIRS_512, "icelake-server", "vpdpwssd", "%zmm"),
    ],
)
def test_inner_loop_holds_its_sums_in_registers(tile, cpu, instruction, register):
    lines = assembly(tile, cpu).splitlines()
    used = [line for line in lines if instruction in line]
    assert len(used) == tile.rows * tile.panels * COLUMNS // tile.lanes
    assert all(register in line for line in used)
    assert sum("prefetcht1" in line for line in lines) == tile.panels
    assert not [line for line in lines if register in line and "Spill" in line]
