import numpy as np
import pytest

from hexsim.int8.machine_code.addresses import copy_bytes, load_int32, store_int32
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
