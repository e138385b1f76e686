"""Execution contexts of a subnet share what nobody writes, and compute the same."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterable

import numpy as np
import pytest

from hexsim.int8.machine_code.words import Array
from hexsim.int8.runner import IntegerSubnet
from tests.entry_points.examples import Example, examples
from tests.entry_points.places import Place, deployment, feed, model
from tests.int8.single_layer import subnet_of
from tests.int8.test_runner import branching_network

DSP = Place("sd855", "dsp")


def _reached(arrays: Iterable[Array]) -> dict[tuple[int, int], Array]:
    """By where they begin and how long they are, each once."""
    return {(array.ctypes.data, array.nbytes): array for array in arrays if array.nbytes}


def _subnets(example: Example) -> list[IntegerSubnet]:
    executor = deployment(model(example, DSP), DSP).executor(2)
    return [part for part in executor._executors if isinstance(part, IntegerSubnet)]


@pytest.mark.parametrize("example", examples(), ids=str)
def test_what_contexts_share_is_never_written(example: Example) -> None:
    x = feed(example)
    for subnet in _subnets(example):
        first, second = subnet.contexts(2)
        places = [_reached(context.commands.owned()) for context in (first, second)]
        shared = [places[0][at] for at in places[0].keys() & places[1].keys()]
        before = [array.tobytes() for array in shared]
        edges = {name: x[name] for name in first._inputs if name in x}
        if set(edges) != set(first._inputs):
            continue  # behind another subnet
        expected = {name: array.copy() for name, array in subnet.run(edges).items()}
        other = second.run_alone({name: -array for name, array in edges.items()})
        again = second.run_alone(edges)
        assert other.keys() == again.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(again[name], array)
        assert [array.tobytes() for array in shared] == before


def test_contexts_share_their_weights() -> None:
    subnet = subnet_of(branching_network()[0])
    first, second = (_reached(context.commands.owned()) for context in subnet.contexts(2))
    assert first.keys() & second.keys()
    for codes in (context.codes["a"] for context in subnet.contexts(2)):
        assert not any(
            np.shares_memory(codes, other.codes["a"])
            for other in subnet.contexts(2)
            if other.codes["a"] is not codes
        )


def test_contexts_are_kept() -> None:
    subnet = subnet_of(branching_network()[0])
    three = subnet.contexts(3)
    assert subnet.contexts(2) == three[:2]
    assert subnet.contexts(3) == three


def test_contexts_own_all_they_need() -> None:
    model_, images = branching_network()
    subnet = subnet_of(model_)
    expected = subnet.run({"x": images})
    alive = weakref.ref(subnet)
    contexts = subnet.contexts(2)
    del subnet, model_
    gc.collect()
    assert alive() is None
    churned = [np.full(2 << at, 255, np.uint8) for at in range(6, 20) for _ in range(20)]
    for context in contexts:
        for name, array in expected.items():
            np.testing.assert_array_equal(context.run_alone({"x": images})[name], array)
    assert len(churned) == 14 * 20


def test_contexts_run_side_by_side() -> None:
    model_, images = branching_network()
    subnet = subnet_of(model_)
    feeds = [{"x": np.roll(images, at) * (at + 1) / 8} for at in range(8)]
    expected = [{n: a.copy() for n, a in subnet.run(feed).items()} for feed in feeds]
    wrong: list[int] = []

    def go(number: int) -> None:
        context = subnet.contexts(4)[number % 2]  # two threads in each
        for turn in range(200):
            at = (turn * 3 + number) % 8
            outputs = context.run_alone(feeds[at])
            if any(not np.array_equal(outputs[n], a) for n, a in expected[at].items()):
                wrong.append(at)

    threads = [threading.Thread(target=go, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for started in threads:
        started.join()
    assert not wrong
