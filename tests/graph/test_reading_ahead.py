"""Constants read ahead: each is computed once, and what goes wrong reaches who asks for it."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant
from hexsim.graph.reading_ahead import heavy, read_ahead

LARGE = (1 << 16,)


def test_heavy_constants_come_with_the_largest_first() -> None:
    sizes = [10, 1 << 17, 1 << 16, 1 << 18]
    constants = [Constant(str(n), (n,), np.zeros(n, np.float32)) for n in sizes]
    assert [tensor.elements for tensor in heavy(constants)] == [1 << 18, 1 << 17, 1 << 16]


def _made_by(seen: list[str], begun: threading.Event) -> Callable[[], np.ndarray]:
    def make() -> np.ndarray:
        seen.append(threading.current_thread().name)
        begun.set()
        return np.ones(LARGE, np.float32)

    return make


def test_a_constant_is_computed_once_on_another_thread() -> None:
    seen: list[str] = []
    begun = threading.Event()
    constant = Constant("w", LARGE, _made_by(seen, begun))
    read_ahead([constant])
    assert begun.wait(30)
    assert constant.value().all()
    assert len(seen) == 1
    assert seen[0] != threading.current_thread().name


def test_what_is_not_kept_is_not_read_ahead() -> None:
    seen: list[str] = []
    kept, begun = threading.Event(), threading.Event()
    constants = [
        Constant("loose", LARGE, _made_by(seen, begun), kept=False),
        Constant("kept", LARGE, _made_by([], kept)),
    ]
    read_ahead(constants)
    assert kept.wait(30)
    assert not seen


def test_a_constant_that_cannot_be_read_is_reported_to_who_asks() -> None:
    tried = threading.Event()

    def fail() -> np.ndarray:
        tried.set()
        raise HexsimError("weight tensor 'w' is made by nobody")

    constant = Constant("w", LARGE, fail)
    read_ahead([constant])
    assert tried.wait(30)
    with pytest.raises(HexsimError, match="made by nobody"):
        constant.value()
