"""What the machine this runs on may lack: every tile compiled for CPUs that have it."""

import pytest

from hexsim.int8.machine_code.inner_loops import microkernel
from hexsim.int8.machine_code.inner_loops.microkernel import DOTS_256, DOTS_512, GUARDED, PAIRS
from tests.int8.machine_code.assembly import assembly


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
    lines = assembly(lambda *of: microkernel.store_product(of[0], tile, panels, of[1]), 6, cpu)
    used = [line for line in lines if instruction in line]
    vectors = panels * microkernel.COLUMNS // tile.lanes
    loops = 3 if tile is GUARDED else 1  # two steps together, then one
    assert len(used) == tile.rows * vectors * loops
    assert all(register in line for line in used)
    held = "".join(line for line in lines if register in line)
    assert f"{register}0" in held
    assert "Spill" not in held
