"""The worked numbers of docs/reference/arithmetic.md for two operands, concat and maximum."""

from hexsim.layers import NO_CLAMP
from hexsim.lowering.elementwise import lower_pair_product, lower_pair_sum
from hexsim.lowering.lowered_call import Operand
from hexsim.lowering.requantize import compared_table, joined_table
from tests.int8 import naive
from tests.int8.drawn import encoding


def operand(name, delta, zero):
    return Operand(name, (1,), encoding(zero, delta))


def test_sum():
    inputs = operand("a", 0.1, 0), operand("b", 0.025, 128)
    call = lower_pair_sum("e", inputs, operand("y", 0.05, 20), NO_CLAMP, subtract=False)
    assert (call.factors, call.cut, call.offset, call.shift) == ((8192, 2048), 8, -704, 4)
    assert naive.run(call, [[30], [88]]) == 60


def test_product():
    inputs = operand("a", 0.1, 10), operand("b", 0.05, 20)
    call = lower_pair_product("e", inputs, operand("y", 0.02, 30), NO_CLAMP)
    assert (call.centre, call.factor, call.offset, call.shift) == (25344, 16384, 12732, 1)
    assert naive.run(call, [[20], [60]]) == 130


def test_steps_without_room_have_the_general_rule():
    coarse, fine = operand("a", 5000.0, 0), operand("y", 1.0, 0)
    assert lower_pair_sum("e", (coarse, coarse), fine, NO_CLAMP, subtract=False) is None
    assert lower_pair_product("e", (coarse, coarse), fine, NO_CLAMP) is None


def test_concat():
    assert joined_table(operand("x", 0.02, 11), encoding(40, 0.05))[60] == 60


def test_maximum():
    assert compared_table(operand("x", 0.02, 10), encoding(40, 0.05), NO_CLAMP)[60] == 60
