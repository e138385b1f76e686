import numpy as np
import pytest
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.machine_code import vector_ir
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.machine_code.vector_ir import INT64


@intrinsic
def power(typing, base, exponent, limit):
    """base ** exponent by a loop, or `limit` if it is greater."""

    def generate(context, builder, signature, arguments):
        base, exponent, limit = arguments
        (result,) = vector_ir.repeat(
            builder, exponent, [INT64(1)], lambda state: [builder.mul(state[0], base)],
            maybe_none=True,
        )  # fmt: skip
        greater = builder.icmp_signed(">", result, limit)
        return vector_ir.when(builder, greater, [result], lambda: [limit])[0]

    return types.intp(types.intp, types.intp, types.intp), generate


@kernel("void(int64,int64,int64,int64[::1])")
def one_power(base, exponent, limit, out):
    out[0] = power(base, exponent, limit)


@pytest.mark.parametrize("exponent", [0, 1, 5])
@pytest.mark.parametrize("limit", [1, 100, 10**6])
def test_loops_and_conditions_join_their_values(exponent, limit):
    out = np.zeros(1, np.int64)
    one_power(7, exponent, limit, out)
    assert out[0] == min(7**exponent, limit)
