import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import LocalResponseNorm
from hexsim.lowering import Operand, Requantize
from hexsim.lowering.local_response_norm import (
    LoweredByteResponseNorm,
    LoweredLocalResponseNorm,
    lower_byte_response_norm,
    power_knots,
)
from tests.int8.drawn import (
    BITS,
    CODES,
    SEEDS,
    arrays,
    assert_equals_reference,
    encoding,
    operands,
    stages,
)
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples


@given(st.data())
@examples(80)
def test_equals_reference(data):
    size = data.draw(st.integers(1, 9))
    shape = (*data.draw(st.lists(st.integers(1, 3), max_size=3)), data.draw(st.integers(1, 20)))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    bits = data.draw(BITS)
    knots = power_knots(size * (2**bits - 1) ** 2).size
    most = data.draw(st.sampled_from([2**17, 2**36]))
    powers = np.sort(random.integers(0, most, knots))[::-1]
    call = LoweredLocalResponseNorm(
        layer="norm",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(shape, "y", bits)),
        size=size,
        powers=np.ascontiguousarray(powers),
        stage=data.draw(stages(1, bits, 16)),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


@given(st.data())
@examples(80)
def test_bytes_equal_their_reference(data):
    shape = (*data.draw(st.lists(st.integers(1, 3), max_size=2)), data.draw(st.integers(1, 20)))
    call = LoweredByteResponseNorm(
        layer="norm",
        inputs=(data.draw(operands(shape)),),
        output=data.draw(operands(shape, "y")),
        size=data.draw(st.integers(1, 9)),
        kappa=data.draw(st.integers(1, 1 << data.draw(st.integers(0, 30)))),
        beta=data.draw(st.integers(1, 1 << 15)),
        sigma=data.draw(st.integers(-(1 << 24), 1 << 24) | st.integers(-(1 << 19), 0)),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[8]))])


def test_numbers_that_hexagon_nn_refuses_have_the_general_rule():
    x, y = (Operand(name, (1, 4), encoding(0, 1.0)) for name in "xy")
    layer = LocalResponseNorm(
        name="n", inputs=("x",), outputs=("y",), size=5, alpha=1e-4, beta=0.75, bias=1.0
    )
    assert lower_byte_response_norm(layer, x, y) is not None
    for numbers in ({"beta": 1.5}, {"beta": 0.0}, {"alpha": 0.0}, {"alpha": 1e-12}, {"bias": 1e-9}):
        assert lower_byte_response_norm(layer.replace(**numbers), x, y) is None


@given(SEEDS)
@examples(20)
def test_interpolation_is_rounded_once(seed):
    """Every second code is one, so there the output is the interpolated power itself."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 256, (1, 50), np.uint8)
    codes[:, ::2] = 1
    operand = Operand("x", codes.shape, encoding(0))
    powers = np.sort(random.integers(0, 256, power_knots(5 * 255**2).size))
    call = LoweredLocalResponseNorm(
        layer="norm",
        inputs=(operand,),
        output=operand,
        size=5,
        powers=powers[::-1].copy(),
        stage=Requantize(
            np.array([0]), np.array([2**30], np.int32), np.array([9], np.int32), 0, 255, 8
        ),
    )
    assert_equals_reference(call, [codes])


@pytest.mark.parametrize(("alpha", "bias"), [(1e-4, 1.0), (1e-4, 2.0), (0.02, 1.0)])
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(alpha, bias, bits):
    rng = np.random.default_rng(11)
    x = (40 * rng.normal(size=(1, 6, 6, 24))).clip(0).astype(np.float32)
    layer = LocalResponseNorm(
        name="norm", inputs=("x",), outputs=("y",), size=5, alpha=alpha, beta=0.75, bias=bias
    )

    def exact(values):
        padded = np.pad(values.astype(np.float64) ** 2, [(0, 0)] * 3 + [(2, 2)])
        squares = sum(padded[..., i : i + 24] for i in range(5))
        return values / (bias + alpha / 5 * squares) ** 0.75

    result, seen, step = run_layer(layer, {"x": x}, (0, exact(x).max()), bits=bits)
    # The interpolated table is within 1/25000 and its own 17 bits, a few steps of a 16-bit output.
    steps = 0.55 if bits == 8 else 5
    assert_within(result, np.minimum(exact(seen["x"]), exact(x).max()), step, steps)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("beta", [0.75, 1.5, -0.5])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_powers_far_from_the_largest_are_close_to_float(size, beta, bits):
    """Sums of squares beside which the bias counts little, so that powers are tiny or huge."""
    x = np.random.default_rng(2).uniform(0.3, 1, (1, 4, 4, 9)) * size
    layer = LocalResponseNorm(
        name="norm", inputs=("x",), outputs=("y",), size=3, alpha=3.0, beta=beta, bias=1e-3
    )

    def exact(values):
        padded = np.pad(values**2, [(0, 0)] * 3 + [(1, 1)])
        return values * (1e-3 + sum(padded[..., i : i + 9] for i in range(3))) ** -beta

    reach = 0, exact(x).max()
    result, seen, step = run_layer(layer, {"x": x.astype(np.float32)}, reach, bits=bits, least=0)
    steps = 2 if bits == 8 else 8  # 8-bit codes as the library has them; tables of 16 bits
    assert_within(result, np.minimum(exact(seen["x"]), reach[1]), step, steps)
