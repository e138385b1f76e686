"""Both ways of looking up, compiled for CPUs that have them; tests of values use this one's."""

import pytest

from hexsim.int8.machine_code.inner_loops.codes import emitted
from tests.int8.machine_code.assembly import assembly


@pytest.mark.parametrize(
    ("wide", "cpu", "instruction", "register", "times"),
    [(False, "haswell", "vpshufb", "%ymm", 16), (True, "icelake-server", "vperm", "%zmm", 2)],
)
def test_looks_up_whole_registers(wide, cpu, instruction, register, times):
    lines = assembly(lambda *of: emitted(of[0], *of[1], wide=wide), 4, cpu)
    used = [line for line in lines if instruction in line]
    assert len(used) == times
    assert all(register in line for line in used)
