"""The guide's examples of packing, and every code comes back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.quantization.packing import Runs, pack, packed_bytes, unpack


def test_the_first_code_is_the_low_nibble() -> None:
    assert pack(np.array([10, 4], np.uint8), "tensor").tolist() == [0b0100_1010]


def test_signed_codes_are_twos_complement() -> None:
    assert pack(np.array([-1, -8, 7], np.int8), "tensor").tolist() == [0x8F, 0x07]


def test_27_codes_take_14_bytes_in_every_channel() -> None:
    codes = np.arange(27 * 2, dtype=np.uint8).reshape(3, 3, 3, 2) % 16
    packed = pack(codes, "channel")
    assert packed.size == packed_bytes(codes.shape, "channel") == 28
    np.testing.assert_array_equal(packed[:14], pack(codes[..., 0], "tensor"))
    np.testing.assert_array_equal(packed[14:], pack(codes[..., 1], "tensor"))
    assert packed[13] < 16


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("runs", ["tensor", "channel"])
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_codes_come_back(dtype: type, runs: Runs, shape: list[int], seed: int) -> None:
    low = -8 if dtype is np.int8 else 0
    codes = np.random.default_rng(seed).integers(low, low + 16, shape).astype(dtype)
    packed = pack(codes, runs)
    assert packed.size == packed_bytes(tuple(shape), runs)
    again = unpack(packed, tuple(shape), runs, dtype)
    assert again.dtype == dtype
    np.testing.assert_array_equal(again, codes)
