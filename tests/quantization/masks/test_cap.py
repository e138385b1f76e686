"""Masks are capped where softmax gives zero, whatever they hold and however they are spelled."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.deployed import deployed

Make = Callable[..., onnx.ModelProto]
SHAPE = (1, 2, 6, 6)
LOWEST = float(np.finfo(np.float32).min)
HUGE = (-math.inf, LOWEST, -65504.0, -1e4, -1e9)
TRIANGLE = np.tri(6)
SOFTMAX = helper.make_node("Softmax", ["a"], ["y"], axis=-1)
ROOM = math.log(6 * 2**17)
"""Six numbers that lie so far below the largest come to less than half a step of 16 bits."""
INPUT_MASK = {"x": SHAPE, "m": (1, 1, 1, 6)}


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@dataclass(frozen=True)
class Spelling:
    """A mask in front of a softmax; `constant` makes the constants of its large number."""

    nodes: tuple[onnx.NodeProto, ...]
    constants: Callable[[float], Mapping[str, object]]
    inputs: Mapping[str, tuple[int, ...]]
    infinite: bool = True

    def network(self, onnx_model: Make, number: float) -> Network:
        nodes = [*self.nodes, SOFTMAX]
        return optimize(read(onnx_model(nodes, self.inputs, ["y"], self.constants(number))))


def _node(operator: str, *names: str, **attributes: object) -> onnx.NodeProto:
    *inputs, output = names
    return helper.make_node(operator, inputs, [output], output, **attributes)


CHOSEN = _node("Cast", "m", "kept", to=TensorProto.BOOL)
REST = _node("Sub", "one", "m", "rest")
SPELLINGS = {
    "added": Spelling(
        (_node("Add", "x", "c", "a"),),
        lambda number: {"c": np.where(TRIANGLE, 0, number).astype("f")},
        {"x": SHAPE},
    ),
    "subtracted": Spelling(
        (_node("Sub", "x", "c", "a"),),
        lambda number: {"c": np.where(TRIANGLE, 0, -number).astype("f")},
        {"x": SHAPE},
    ),
    "negated": Spelling(
        (_node("Neg", "x", "n"), _node("Add", "n", "c", "s"), _node("Neg", "s", "a")),
        lambda number: {"c": np.where(TRIANGLE, 0, -number).astype("f")},
        {"x": SHAPE},
    ),
    "chosen": Spelling(
        (CHOSEN, _node("Where", "kept", "x", "c", "a")),
        lambda number: {"c": np.float32(number)},
        INPUT_MASK,
    ),
    "chosen, then added": Spelling(
        (CHOSEN, _node("Where", "kept", "zero", "c", "w"), _node("Add", "x", "w", "a")),
        lambda number: {"c": np.float32(number), "zero": np.float32(0)},
        INPUT_MASK,
    ),
    "chosen, by a bound of its number": Spelling(
        (
            CHOSEN,
            _node("Where", "kept", "zero", "c", "w"),
            _node("Less", "w", "zero", "hidden"),
            _node("Where", "hidden", "c", "x", "a"),
        ),
        lambda number: {"c": np.float32(number), "zero": np.float32(0)},
        INPUT_MASK,
        infinite=False,
    ),
    "added, below the largest": Spelling(
        (
            _node("Add", "x", "c", "s"),
            _node("ReduceMax", "s", "top", axes=[-1]),
            _node("Sub", "s", "top", "a"),
        ),
        lambda number: {"c": np.where(TRIANGLE, 0, number).astype("f")},
        {"x": SHAPE},
    ),
    "product": Spelling(
        (REST, _node("Mul", "rest", "c", "w"), _node("Add", "w", "x", "a")),
        lambda number: {"c": np.float32(number), "one": np.float32(1)},
        INPUT_MASK,
        infinite=False,
    ),
    "product, subtracted": Spelling(
        (REST, _node("Mul", "rest", "c", "w"), _node("Sub", "x", "w", "a")),
        lambda number: {"c": np.float32(-number), "one": np.float32(1)},
        INPUT_MASK,
        infinite=False,
    ),
    "product with minus one": Spelling(
        (
            _node("Sub", "m", "one", "rest"),
            _node("Mul", "c", "rest", "w"),
            _node("Add", "x", "w", "a"),
        ),
        lambda number: {"c": np.float32(-number), "one": np.float32(1)},
        INPUT_MASK,
        infinite=False,
    ),
    "product, with its number as a bound": Spelling(
        (
            REST,
            _node("Mul", "rest", "c", "w"),
            _node("Add", "w", "x", "s"),
            _node("Max", "s", "c", "a"),
        ),
        lambda number: {"c": np.float32(number), "one": np.float32(1)},
        INPUT_MASK,
        infinite=False,
    ),
}
CASES = [
    pytest.param(name, number, id=f"{name} {number:g}")
    for name, spelling in SPELLINGS.items()
    for number in HUGE
    if spelling.infinite or math.isfinite(number)
]


def feeds(network: Network, seed: int = 0) -> list[dict[str, FloatArray]]:
    """Three inputs; x of -18 to 18 or so, m of ones but for the last two keys."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(3):
        feed = {"x": (6 * rng.normal(size=network.shape("x"))).astype(np.float32)}
        if "m" in network.inputs:
            shape = network.shape("m")
            feed["m"] = np.array([1, 1, 1, 1, 0, 0], np.float32).reshape(shape)
        made.append(feed)
    return made


def answer(model: Model, feed: Mapping[str, FloatArray]) -> FloatArray:
    (output,) = deployed(model).executor().run(feed).values()
    return output


@pytest.mark.parametrize(("name", "number"), CASES)
def test_every_spelling_of_a_mask_keeps_its_precision(
    onnx_model: Make, name: str, number: float
) -> None:
    """A step of what the softmax reads is a third of a unit, not 40 or 4e6."""
    network = SPELLINGS[name].network(onnx_model, number)
    given = feeds(network)
    model = quantize(network, given)
    (expected,) = FloatEngine(network).run(given[1]).values()
    output = answer(model, given[1])
    np.testing.assert_allclose(output, expected, atol=0.08)
    assert (expected == 0).any()
    assert not output[expected == 0].any()
    assert model.activations["a"].delta < 0.35
    assert any(note.startswith("the mask '") for note in model.notes)


@pytest.mark.parametrize("name", [name for name in SPELLINGS if "bound" not in name])
def test_all_numbers_that_mask_are_one(onnx_model: Make, name: str) -> None:
    results = []
    for number in HUGE:
        if SPELLINGS[name].infinite or math.isfinite(number):
            network = SPELLINGS[name].network(onnx_model, number)
            given = feeds(network)
            model = quantize(network, given)
            results.append((model.activations, model.notes, answer(model, given[0]).tobytes()))
    assert all(other == results[0] for other in results[1:])


def test_the_cap_by_hand(onnx_model: Make) -> None:
    """x is -2 to 3: what is read needs -2 - room, and the mask three less."""
    network = SPELLINGS["added"].network(onnx_model, -1e9)
    x = np.linspace(-2, 3, 72, dtype=np.float32).reshape(network.shape("x"))
    model = quantize(network, [{"x": x}])
    (name,) = (n for n, c in model.network.constants.items() if c.dtype == "float32")
    assert model.network.constants[name].value().min() == pytest.approx(-5 - ROOM)
    assert model.activations["a"].min == pytest.approx(-7 - ROOM, abs=0.1)
    (note,) = model.notes
    assert note == (
        f"the mask 'c' was capped at {-5 - ROOM:.4g}: beyond it nothing that reads it "
        "changes, at 8 and at 16 bits"
    )


@pytest.mark.parametrize("number", HUGE)
def test_exponentials_and_places_of_the_largest(onnx_model: Make, number: float) -> None:
    nodes = [
        _node("Where", "kept", "x", "c", "a"),
        _node("Exp", "a", "y"),
        _node("Where", "kept", "z", "c", "b"),
        helper.make_node("TopK", ["b", "three"], ["largest", "places"], axis=-1),
    ]
    constants = {"c": np.float32(number), "kept": TRIANGLE.astype(bool), "three": np.array([3])}
    network = optimize(
        read(onnx_model(nodes, {"x": SHAPE, "z": SHAPE}, ["y", "places"], constants))
    )
    rng = np.random.default_rng(0)
    x = np.where(TRIANGLE, rng.uniform(-6, 0, SHAPE), 300)  # what is hidden may be large
    z = rng.permutation(72).reshape(SHAPE)
    given = {
        name: network.tensors[name].from_source(array.astype(np.float32))
        for name, array in (("x", x), ("z", z))
    }
    model = quantize(network, [given])
    expected = FloatEngine(network).run(given)
    output = deployed(model).executor().run(given)
    np.testing.assert_allclose(output["y"], expected["y"], atol=0.05)
    assert not output["y"][expected["y"] == 0].any()
    of_rows = TRIANGLE.sum(axis=-1) >= 3  # the others have masked numbers among the largest
    places = [network.tensors["places"].to_source(array["places"]) for array in (output, expected)]
    np.testing.assert_array_equal(places[0][:, :, of_rows], places[1][:, :, of_rows])
    assert all(model.activations[name].min > -13 for name in "ab")


def test_the_largest_numbers_themselves_keep_their_mask(onnx_model: Make) -> None:
    nodes = [
        _node("Where", "kept", "x", "c", "a"),
        helper.make_node("TopK", ["a", "three"], ["y", "places"], axis=-1),
    ]
    constants = {"c": np.float32(-1e4), "kept": TRIANGLE.astype(bool), "three": np.array([3])}
    network = optimize(read(onnx_model(nodes, {"x": SHAPE}, ["y"], constants)))
    assert quantize(network, feeds(network)).network is network


def test_floats_of_the_capped_network_are_those_of_the_file(onnx_model: Make) -> None:
    network = SPELLINGS["added"].network(onnx_model, -math.inf)
    given = feeds(network)
    model = quantize(network, given)
    for feed in given:
        (expected,) = FloatEngine(network).run(feed).values()
        (output,) = FloatEngine(model.network).run(feed).values()
        np.testing.assert_allclose(output, expected, atol=2**-17)


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize("name", ["added", "chosen"])
def test_a_row_that_is_masked_as_a_whole_is_made_of_numbers(
    onnx_model: Make, name: str, number: float
) -> None:
    """Added, it is the row without mask; chosen, every number of it is the same."""
    nodes = {
        "added": [_node("Add", "x", "c", "a"), SOFTMAX],
        "chosen": [_node("Where", "kept", "x", "c", "a"), SOFTMAX],
    }[name]
    kept = TRIANGLE.astype(bool)
    kept[2] = False
    constants = {
        "added": {"c": np.where(kept, 0, number).astype("f")},
        "chosen": {"c": np.float32(number), "kept": kept},
    }[name]
    network = optimize(read(onnx_model(nodes, {"x": SHAPE}, ["y"], constants)))
    given = feeds(network)
    model = quantize(network, given)
    probabilities = np.asarray(network.tensors["y"].to_source(answer(model, given[0])), np.float64)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, atol=0.02)
    if name == "chosen":
        np.testing.assert_allclose(probabilities[:, :, 2], 1 / 6, atol=1 / 255)
        return
    row = network.tensors["x"].to_source(given[0]["x"])[:, :, 2].astype(np.float64)
    parts = np.exp(row - row.max(axis=-1, keepdims=True))
    expected = parts / parts.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(probabilities[:, :, 2], expected, atol=0.08)


def test_enhanced_ranges_see_the_capped_numbers(onnx_model: Make) -> None:
    network = SPELLINGS["product"].network(onnx_model, -1e9)
    given = feeds(network)
    model = quantize(network, given, QuantizationOptions(enhanced="activations"))
    assert model.activations["a"].min > -80
    (expected,) = FloatEngine(network).run(given[1]).values()
    np.testing.assert_allclose(answer(model, given[1]), expected, atol=0.08)


def test_two_masks_of_the_lowest_float_are_no_infinity(onnx_model: Make) -> None:
    nodes = [_node("Add", "x", "c", "b"), _node("Add", "b", "d", "a"), SOFTMAX]
    padding = np.where(np.arange(6) < 4, 0, LOWEST).astype("f")
    constants = {"c": np.where(TRIANGLE, 0, LOWEST).astype("f"), "d": padding}
    network = optimize(read(onnx_model(nodes, {"x": SHAPE}, ["y"], constants)))
    given = feeds(network)
    model = quantize(network, given)
    (expected,) = FloatEngine(network).run(given[1]).values()
    np.testing.assert_allclose(answer(model, given[1]), expected, atol=0.08)
    assert len(model.notes) == 2


UNTOUCHED = {
    "an output as well": ([_node("Add", "x", "c", "a"), SOFTMAX], ["a", "y"]),
    "multiplied behind": (
        [_node("Add", "x", "c", "s"), _node("Mul", "s", "x", "a"), SOFTMAX],
        ["y"],
    ),
    "no softmax": ([_node("Add", "x", "c", "y")], ["y"]),
}


@pytest.mark.parametrize("what", UNTOUCHED)
def test_what_reaches_anything_else_is_left_alone(onnx_model: Make, what: str) -> None:
    nodes, outputs = UNTOUCHED[what]
    constants = {"c": np.where(TRIANGLE, 0, -1e4).astype("f")}
    network = optimize(read(onnx_model(nodes, {"x": SHAPE}, outputs, constants)))
    model = quantize(network, feeds(network))
    assert model.network is network
    assert model.notes == ()


def test_large_numbers_that_are_added_decide_and_stay(onnx_model: Make) -> None:
    """Of 9000 and 10000, a softmax takes the latter: it makes a difference how large they are."""
    number = np.where(TRIANGLE, 0, 1e4).astype("f")
    number[0, 5] = 9000
    nodes = [_node("Add", "x", "c", "a"), SOFTMAX]
    network = optimize(read(onnx_model(nodes, {"x": SHAPE}, ["y"], {"c": number})))
    model = quantize(network, feeds(network))
    assert model.network is network


def test_a_bias_of_logits_is_no_mask(onnx_model: Make) -> None:
    nodes = [_node("Add", "x", "c", "a"), SOFTMAX]
    bias = np.linspace(-40, 9, 6, dtype=np.float32)
    network = optimize(read(onnx_model(nodes, {"x": SHAPE}, ["y"], {"c": bias})))
    assert quantize(network, feeds(network)).network is network


def test_a_product_with_a_fraction_is_left_alone(onnx_model: Make) -> None:
    """A thousandth of -10000 is -10, which a softmax tells from zero."""
    network = SPELLINGS["product"].network(onnx_model, -1e4)
    given = feeds(network)
    given[1]["m"][given[1]["m"] == 1] = 0.999
    model = quantize(network, given)
    assert model.notes == ()
    assert model.network is network


def test_infinity_that_reaches_something_else_is_refused_by_name(onnx_model: Make) -> None:
    nodes = [_node("Where", "kept", "x", "c", "y")]
    constants = {"c": np.float32(-np.inf), "kept": TRIANGLE.astype(bool)}
    network = read(onnx_model(nodes, {"x": SHAPE}, ["y"], constants))
    with pytest.raises(HexsimError, match=r"tensor 'y'.*constant 'c'.*infinite"):
        quantize(network, feeds(network))
