import pytest

from hexsim import binding
from hexsim.int8.dispatch import prepare
from tests.int8 import naive


def test_every_bound_call_has_a_twin():
    calls = {
        getattr(binding, name)
        for name in binding.__all__
        if name.startswith("Bound") and name != "BoundCall"
    }
    assert calls == set(naive.TWINS)


def test_an_unknown_call_is_a_programming_error():
    class BoundNothing(binding.BoundCall):
        pass

    with pytest.raises(TypeError, match="no kernel for BoundNothing"):
        prepare(BoundNothing(layer="n", inputs=(), output=None))
