"""Tensors keep their axis order, constants stay lazy, networks check themselves.

Arrays in another order of axes: the elements that numpy's own copy has.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from time import sleep

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network, Tensor, contiguous
from hexsim.layers import Neuron, Reshape


def _network() -> Network:
    return Network(
        name="two",
        layers=(
            Neuron(name="a", inputs=("x",), outputs=("y",), function="sigmoid"),
            Reshape(name="b", inputs=("y",), outputs=("z",), shape=(1, 24)),
        ),
        tensors={
            "x": Tensor("x", (1, 3, 4, 2), (0, 2, 3, 1)),
            "y": Tensor("y", (1, 3, 4, 2), (0, 2, 3, 1)),
            "z": Tensor("z", (1, 24)),
        },
        constants={},
        inputs=("x",),
        outputs=("z",),
    )


def test_axis_order_goes_there_and_back() -> None:
    tensor = Tensor("x", (1, 3, 4, 2), (0, 2, 3, 1))
    assert tensor.source_shape == (1, 2, 3, 4)
    source = np.arange(24.0).reshape(1, 2, 3, 4)
    stored = tensor.from_source(source)
    assert stored.shape == tensor.shape
    assert stored[0, 1, 2, 1] == source[0, 1, 1, 2]
    np.testing.assert_array_equal(tensor.to_source(stored), source)


def test_order_must_fit_the_shape() -> None:
    with pytest.raises(ValueError, match="order"):
        Tensor("x", (1, 2), (0, 2))


def test_constant_is_made_once_when_first_read() -> None:
    made = []

    def make() -> np.ndarray:
        made.append(1)
        return np.ones((2, 3), np.float32)

    constant = Constant("w", (2, 3), make)
    turned = constant.derive((3, 2), np.transpose)
    assert (turned.shape, made) == ((3, 2), [])
    assert turned.value().shape == (3, 2)
    turned.value()
    constant.value()
    assert made == [1]
    with pytest.raises(ValueError, match="read-only"):
        constant.value()[0, 0] = 2


def test_threads_wait_for_the_one_that_computes_a_constant() -> None:
    made: list[np.ndarray] = []

    def make() -> np.ndarray:
        sleep(0.05)  # the others are there by then
        made.append(np.zeros(3, np.float32))
        return made[-1]

    constant = Constant("w", (3,), make)
    with ThreadPoolExecutor(4) as threads:
        values = list(threads.map(lambda _: constant.value(), range(4)))
    assert len(made) == 1
    assert all(value is values[0] for value in values)


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_unusable_weights_are_named(bad: float, word: str) -> None:
    with pytest.raises(HexsimError, match=f"'conv1.w' holds {word}"):
        Constant("conv1.w", (2,), np.array([1.0, bad], np.float32)).finite()


def test_a_mask_may_be_infinite() -> None:
    mask = np.array([0.0, -np.inf], np.float32)
    np.testing.assert_array_equal(Constant("mask", (2,), mask).value(), mask)


def test_producers_consumers_and_pruning() -> None:
    network = _network()
    network.check()
    assert network.producers["z"].name == "b"
    assert [layer.name for layer in network.consumers["y"]] == ["b"]
    part = network.subnetwork(network.layers[:1], ["x"], ["y"])
    assert set(part.tensors) == {"x", "y"}
    part.check()


def test_check_refuses_wrong_order_and_wrong_shapes() -> None:
    network = _network()
    with pytest.raises(ValueError, match="is written by nothing before it"):
        network.with_layers(reversed(network.layers)).check()
    with pytest.raises(ValueError, match="its inputs make"):
        network.with_layers(network.layers, [Tensor("z", (2, 12))]).check()


@pytest.mark.parametrize("kept", [True, False])
def test_a_constant_is_made_again_only_if_it_is_neither_kept_nor_held(kept: bool) -> None:
    made = []

    def make() -> np.ndarray:
        made.append(1)
        return np.arange(3, dtype=np.float32)

    constant = Constant("w", (3,), make, kept=kept)
    held = constant.value()
    assert constant.value() is held
    del held
    assert constant.value().tolist() == [0, 1, 2]
    assert len(made) == (1 if kept else 2)


SHAPES = [(700, 400), (1, 300_000), (3, 3, 130, 250), (97, 31, 5, 19), (2, 600, 1, 300)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_every_order_of_axes_is_copied_as_numpy_does(
    shape: tuple[int, ...], dtype: type[np.generic]
) -> None:
    array = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    for order in permutations(range(array.ndim)):
        for turned in (array.transpose(order), array[::-1].transpose(order)):
            result = contiguous(turned)
            assert result.flags.c_contiguous
            assert np.array_equal(result, turned)


def test_what_lies_in_order_is_not_copied() -> None:
    array = np.zeros((600, 600))
    assert contiguous(array) is array


def test_a_value_that_is_repeated_in_memory_is_copied() -> None:
    row = np.arange(1000)
    assert np.array_equal(contiguous(np.broadcast_to(row, (500, 1000))), np.tile(row, (500, 1)))
