import numpy as np
import pytest
from numba.core import types
from numba.extending import intrinsic

from hexsim.int8.machine_code import addresses
from hexsim.int8.machine_code.addresses import INT64, copy_bytes, load_int32, store_int32
from hexsim.int8.machine_code.jit import kernel


@kernel("void(uint8[::1],uint8[::1],int64)")
def some_bytes(source, target, count):
    copy_bytes(source.ctypes.data, target.ctypes.data, count)


@kernel("void(int32[::1],int32[::1])")
def one_word(source, target):
    store_int32(target.ctypes.data, load_int32(source.ctypes.data))


@pytest.mark.parametrize("count", range(35))
def test_copies_that_many_bytes(count):
    source, target = np.arange(1, 41, dtype=np.uint8), np.zeros(40, np.uint8)
    some_bytes(source, target, count)
    np.testing.assert_array_equal(target, np.where(np.arange(40) < count, source, 0))


def test_copies_a_word():
    target = np.zeros(2, np.int32)
    one_word(np.array([-5, 7], np.int32), target)
    assert target.tolist() == [-5, 0]


@intrinsic
def power(typing, base, exponent, limit):
    """base ** exponent by a loop, or `limit` if it is greater."""

    def generate(context, builder, signature, arguments):
        base, exponent, limit = arguments
        (result,) = addresses.repeat(
            builder, exponent, [INT64(1)], lambda state: [builder.mul(state[0], base)],
            maybe_none=True,
        )  # fmt: skip
        greater = builder.icmp_signed(">", result, limit)
        return addresses.when(builder, greater, [result], lambda: [limit])[0]

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
