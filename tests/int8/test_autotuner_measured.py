from types import SimpleNamespace

import numpy as np
import pytest

from hexsim.int8.autotuner import seconds_of
from hexsim.lowering import Operand
from tests.int8.drawn import encoding


class Clock:
    """A clock that only work moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Working:
    """A prepared call that takes the next of `seconds`, again and again the last."""

    def __init__(self, clock, *seconds):
        self.seconds, self.runs, self._clock = list(seconds), 0, clock

    def steps(self, at):
        self.inputs, self.output, _ = at
        return [self._work]

    def _work(self):
        self._clock.now += self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]
        self.runs += 1


def call(bits=8):
    x = Operand("x", (1, 2, 3, 4), encoding(7))
    return SimpleNamespace(inputs=(x,), output=Operand("y", (1, 2, 3, 5), encoding(0, bits=bits)))


def test_shortest_of_several_but_not_the_first_turn():
    clock = Clock()
    noisy, steady = Working(clock, 1e-9, 5e-4, 2e-4, 4e-4), Working(clock, 9.0, 3e-4)
    assert seconds_of([noisy, steady], call(), clock) == pytest.approx([2e-4, 3e-4])
    assert noisy.runs == steady.runs > 5


def test_long_layers_are_timed_once():
    clock = Clock()
    slow, quick = Working(clock, 2.0), Working(clock, 1.0)
    assert seconds_of([slow, quick], call(), clock) == pytest.approx([2, 1])
    assert (slow.runs, quick.runs) == (2, 2)


@pytest.mark.parametrize(("bits", "kind"), [(8, np.uint8), (16, np.int32)])
def test_inputs_are_codes_and_the_output_codes_or_sums(bits, kind):
    working = Working(Clock(), 1.0)
    seconds_of([working], call(bits), working._clock)
    (x,) = working.inputs
    assert (x.shape, x.dtype, x.min(), x.max()) == ((1, 2, 3, 4), np.uint8, 7, 7)
    assert (working.output.shape, working.output.dtype) == ((1, 2, 3, 5), kind)
