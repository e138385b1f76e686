"""What the machine this runs on may lack: every tile compiled for CPUs that have it."""

import pytest

from hexsim.int8.machine_code.inner_loops import winograd
from hexsim.int8.machine_code.inner_loops.microkernel import PAIRS
from hexsim.int8.machine_code.inner_loops.winograd import PAIRS_512
from hexsim.int8.panel import COLUMNS
from tests.int8.machine_code.assembly import assembly


@pytest.mark.parametrize(
    ("tile", "cpu", "instruction", "register"),
    [
        (PAIRS, "haswell", "vpmaddwd", "%ymm"),
        (PAIRS_512, "icelake-server", "vpdpwssd", "%zmm"),
    ],
)
def test_inner_loop_holds_its_sums_in_registers(tile, cpu, instruction, register):
    lines = assembly(lambda *of: winograd._multiply(of[0], tile, of[1]), 6, cpu)
    used = [line for line in lines if instruction in line]
    assert len(used) == tile.rows * tile.panels * COLUMNS // tile.lanes
    assert all(register in line for line in used)
    assert sum("prefetcht1" in line for line in lines) == tile.panels
    assert not [line for line in lines if register in line and "Spill" in line]
