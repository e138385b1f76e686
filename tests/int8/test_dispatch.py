import pytest

from hexsim.discovery import classes
from hexsim.int8.dispatch import prepare
from hexsim.lowering import BoundCall
from hexsim.lowering.user_defined import BoundUserDefined
from tests.int8 import naive


def test_every_bound_call_has_a_twin():
    of_ours = set(classes("hexsim.lowering", BoundCall)) - {BoundCall, BoundUserDefined}
    assert of_ours == set(naive.TWINS)


def test_an_unknown_call_is_a_programming_error():
    class BoundNothing(BoundCall):
        pass

    with pytest.raises(TypeError, match="no kernel for BoundNothing"):
        prepare(BoundNothing(layer="n", inputs=(), output=None))
