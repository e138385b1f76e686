"""Execution contexts of a subnet share what nobody writes, and compute the same.

Tensors that are needed at the same time never share memory; others may.
"""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.int8 import commands
from hexsim.int8.dispatch import prepare
from hexsim.int8.machine_code.arguments import ALIGNMENT, Array, whole_lines
from hexsim.int8.runner import IntegerSubnet, Life, place
from hexsim.layers import (
    NO_CLAMP,
    RELU,
    Concat,
    Convolution,
    Elementwise,
    FullyConnected,
    Pooling,
    Softmax,
    Window,
)
from hexsim.quantization.encodings import Encoding, input_codes
from tests.entry_points.examples import Example, examples
from tests.entry_points.places import Place, deployment, feed, model
from tests.int8 import naive
from tests.int8.single_layer import codes_of, lowered, quantized, subnet_of


def branching_network(batch=1):
    """Convolution, depthwise, residual sum with a constant, concat, pool, classifier."""
    rng = np.random.default_rng(0)
    same = Window((3, 3), (1, 1), (1, 1, 1, 1))
    layers = [
        Convolution(
            name="stem", inputs=("x",), outputs=("a",), weight="w0", bias="b0",
            window=Window((3, 3), (2, 2), (0, 1, 1, 0)), clamp=RELU, output_channels=8,
        ),
        Convolution(
            name="dw", inputs=("a",), outputs=("b",), weight="w1", window=same, groups=8,
            clamp=NO_CLAMP, output_channels=8,
        ),
        Elementwise(name="add", inputs=("a", "b", "c"), outputs=("d",), kind="sum", clamp=RELU),
        Concat(name="cat", inputs=("d", "a"), outputs=("e",), axis=3),
        Pooling(
            name="gap", inputs=("e",), outputs=("f",), kind="average", window=Window((6, 6))
        ),
        FullyConnected(
            name="fc", inputs=("f",), outputs=("g",), weight="w2", clamp=NO_CLAMP,
            output_channels=5,
        ),
        Softmax(name="prob", inputs=("g",), outputs=("p",), axes=(1,)),
    ]  # fmt: skip
    constants = {
        "w0": rng.normal(size=(3, 3, 3, 8)).astype(np.float32),
        "b0": rng.normal(size=8).astype(np.float32),
        "w1": rng.normal(size=(3, 3, 1, 8)).astype(np.float32),
        "w2": rng.normal(size=(16, 5)).astype(np.float32),
        "c": rng.normal(size=8).astype(np.float32),
    }
    ranges = {
        "x": (-1, 1), "a": (0, 8), "b": (-15, 15), "c": (-3, 3), "d": (0, 20), "e": (0, 20),
        "f": (0, 6), "g": (-12, 12), "p": (0, 1),
    }  # fmt: skip
    encodings = {name: Encoding.from_range(*limits) for name, limits in ranges.items()}
    model = quantized(layers, {"x": (batch, 12, 12, 3)}, constants, encodings, ["p", "d"])
    images = rng.uniform(-1, 1, (batch, 12, 12, 3)).astype(np.float32)
    return model, images


@pytest.mark.parametrize("signed_weights", [False, True])
def test_every_tensor_equals_the_references(signed_weights):
    model, images = branching_network(batch=2)
    subnet, calls = lowered(model, signed_weights)
    codes = codes_of(subnet, calls, {"x": images})
    expected = {"x": input_codes(images, model.activations["x"])}
    for call in calls:
        inputs = [expected[x.name] if x.codes is None else x.codes for x in call.inputs]
        expected[call.output.name] = naive.run(call, inputs)
    assert codes.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(codes[name], array, err_msg=name)
    assert all(np.unique(array).size > 3 for array in codes.values())


def test_run_returns_the_outputs_as_real_values():
    model, images = branching_network()
    codes = codes_of(*lowered(model), {"x": images})
    outputs = subnet_of(model).run({"x": images})
    assert list(outputs) == ["d", "p"]
    for name, array in outputs.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, model.activations[name].dequantize(codes[name]))


def test_a_call_is_let_go_of_before_the_next_is_made():
    """So that of all weights those of one layer are in memory both as codes and packed."""
    model, _ = branching_network()
    subnet, calls = lowered(model)
    made = []

    def one_by_one():
        for call in calls:
            assert all(earlier() is None for earlier in made)
            copy = replace(call)
            if is_packed(call):
                made.append(weakref.ref(copy))
            yield copy
            del copy

    IntegerSubnet(one_by_one(), subnet.inputs, subnet.outputs)
    assert len(made) == sum(map(is_packed, calls)) > 1


def is_packed(call):
    """Whether the constants are packed; a kernel that reads the call's own has no copy of them."""
    return getattr(prepare(call), "call", None) is not call


def test_a_batch_is_its_items():
    model, images = branching_network(batch=3)
    together = codes_of(*lowered(model), {"x": images})
    single = lowered(branching_network()[0])
    for item in range(3):
        alone = codes_of(*single, {"x": images[item : item + 1]})
        for name, array in alone.items():
            np.testing.assert_array_equal(together[name][item], array[0], err_msg=name)


def test_inputs_in_any_memory_order():
    model, images = branching_network()
    subnet = subnet_of(model)
    strided = np.asfortranarray(images)
    np.testing.assert_array_equal(subnet.run({"x": strided})["p"], subnet.run({"x": images})["p"])


def test_several_threads_share_one_subnet():
    model, images = branching_network(batch=2)
    subnet = subnet_of(model)
    feeds = [images, images[::-1].copy()] * 4
    results = [None] * len(feeds)

    def work(at):
        results[at] = subnet.run({"x": feeds[at]})["p"]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(feeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, fed in enumerate(feeds):
        np.testing.assert_array_equal(results[at], subnet.run({"x": fed})["p"])


def test_wrong_shape_is_refused():
    model, images = branching_network()
    with pytest.raises(HexsimError, match=r"input 'x' has shape \(1, 6, 12, 3\)"):
        subnet_of(model).run({"x": images[:, :6]})


@pytest.mark.parametrize("batch", [1, 3])
def test_threads_change_nothing(monkeypatch, batch):
    model, images = branching_network(batch)
    subnet, calls = lowered(model)
    expected = codes_of(subnet, calls, {"x": images})
    monkeypatch.setattr(commands, "_LEAST_SHARED", 0)
    for threads in (2, 3, 0):
        for _ in range(3):
            codes = codes_of(subnet, calls, {"x": images}, threads)
            for name, array in expected.items():
                np.testing.assert_array_equal(codes[name], array, err_msg=f"{name}, {threads}")


def test_runs_do_not_remember_each_other():
    model, images = branching_network()
    subnet = subnet_of(model)
    first = subnet.run({"x": images})
    before = {name: array.copy() for name, array in first.items()}
    other = subnet.run({"x": -images})
    assert not np.array_equal(other["p"], before["p"])
    for name, array in before.items():
        np.testing.assert_array_equal(first[name], array)
        np.testing.assert_array_equal(subnet.run({"x": images})[name], array)


def test_constants_unlike_their_operand_are_refused():
    model, _ = branching_network()
    subnet, calls = lowered(model)
    (call,) = (call for call in calls if call.layer == "add")
    constant = replace(call.inputs[2], codes=call.inputs[2].codes[..., :3])
    spoilt = replace(call, inputs=(*call.inputs[:2], constant))
    others = [spoilt if candidate is call else candidate for candidate in calls]
    with pytest.raises(HexsimError, match=r"tensor 'c' has uint8 codes of shape \(3,\), its"):
        IntegerSubnet(others, subnet.inputs, subnet.outputs)


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


LIVES = st.builds(
    lambda size, first, length: Life(size, first, first + length),
    st.integers(0, 1000),
    st.integers(0, 12),
    st.integers(0, 4),
)


@given(st.lists(LIVES, max_size=12))
def test_no_two_that_meet_overlap(drawn: list[Life]) -> None:
    lives = {str(at): life for at, life in enumerate(drawn)}
    starts, total = place(lives)
    for name, life in lives.items():
        assert starts[name] % ALIGNMENT == 0
        assert 0 <= starts[name] <= starts[name] + life.bytes <= total
        for other, neighbour in lives.items():
            if other != name and life.meets(neighbour):
                ends = starts[name] + life.bytes, starts[other] + neighbour.bytes
                assert ends[0] <= starts[other] or ends[1] <= starts[name]
    assert total <= sum(whole_lines(life.bytes) for life in drawn)


def test_a_chain_needs_two_neighbours() -> None:
    lives = {str(at): Life(640, at, at + 1) for at in range(9)}
    assert place(lives)[1] == 2 * 640


def test_what_is_kept_shares_with_nobody() -> None:
    lives = {"kept": Life(64, 0, 9), **{str(at): Life(128, at, at) for at in range(1, 9)}}
    starts, total = place(lives)
    assert total == 64 + 128
    assert all(starts[name] != starts["kept"] for name in lives if name != "kept")
