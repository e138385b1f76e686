import pytest

from hexsim.discovery import classes
from hexsim.int8.dispatch import prepare
from hexsim.lowering import LoweredCall
from hexsim.lowering.functions import LoweredUserDefined
from tests.int8 import naive


def test_every_lowered_call_has_a_reference():
    of_ours = set(classes("hexsim.lowering", LoweredCall)) - {LoweredCall, LoweredUserDefined}
    assert of_ours == set(naive.REFERENCES)


def test_an_unknown_call_is_a_programming_error():
    class BoundNothing(LoweredCall):
        pass

    with pytest.raises(TypeError, match="no kernel for BoundNothing"):
        prepare(BoundNothing(layer="n", inputs=(), output=None))
