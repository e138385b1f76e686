"""One instruction rounds, whichever CPU of those that have it: two would round twice."""

import pytest
from llvmlite import ir

from hexsim.int8.machine_code.inner_loops.float_rounding import FloatRounding
from hexsim.int8.machine_code.vector_ir import FLOAT, INT32, broadcast, load, store
from tests.int8.machine_code.assembly import assembly


@pytest.mark.parametrize(
    ("lanes", "cpu", "register"), [(8, "haswell", "%ymm"), (16, "icelake-server", "%zmm")]
)
def test_product_and_sum_are_one_instruction(lanes, cpu, register):
    def emit(builder, words):
        sums, factor, limits, out = words
        low, high = builder.trunc(limits, INT32), builder.trunc(limits, INT32)
        rounding = FloatRounding(builder, low, high, lanes)
        scale = broadcast(builder, load(builder, factor, FLOAT), rounding.kind)
        total = load(builder, sums, ir.VectorType(INT32, lanes))
        store(builder, rounding.code(total, scale), out)

    lines = assembly(emit, 4, cpu)
    for instruction in ("vcvtdq2ps", "vfmadd", "vminps", "vmaxps"):
        assert [instruction in line and register in line for line in lines].count(True) == 1
    assert not any("vmulps" in line or "call" in line for line in lines)
