import threading
import weakref
from dataclasses import replace

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.int8.commands import command_list
from hexsim.int8.dispatch import prepare
from hexsim.int8.runner import IntegerSubnet
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
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.float_inputs import input_codes
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
    for at, feed in enumerate(feeds):
        np.testing.assert_array_equal(results[at], subnet.run({"x": feed})["p"])


def test_wrong_shape_is_refused():
    model, images = branching_network()
    with pytest.raises(HexsimError, match=r"input 'x' has shape \(1, 6, 12, 3\)"):
        subnet_of(model).run({"x": images[:, :6]})


@pytest.mark.parametrize("batch", [1, 3])
def test_threads_change_nothing(monkeypatch, batch):
    model, images = branching_network(batch)
    subnet, calls = lowered(model)
    expected = codes_of(subnet, calls, {"x": images})
    monkeypatch.setattr(command_list, "_LEAST_SHARED", 0)
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
