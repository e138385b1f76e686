"""Whatever a user's function does, one sentence names file, line, operator and node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.udl import Cost, Node, Scale, UserLayer
from hexsim.udl.calling import coded_values, cost_of, float_values, output_shapes

NODE = Node("here", {}, ((2, 3),), ((2, 3),))
CODED = replace(NODE, input_scales=(Scale(0.1, 0, 8),), output_scale=Scale(0.1, 3, 8))
X = np.zeros((2, 3), np.float32)


def layer(**functions: Any) -> UserLayer:
    given: dict[str, Any] = {"shapes": lambda node: node.inputs, "floats": lambda node, x: x}
    return UserLayer(domain="d", operator="Own", source="own.py", **{**given, **functions})


def message_of(call: Callable[[], object]) -> str:
    with pytest.raises(HexsimError) as error:
        call()
    sentence = str(error.value)
    assert sentence.startswith("'own.py', line ")
    assert sentence.endswith("(node 'here'); correct the function")
    assert "user-defined d.Own" in sentence
    assert "\n" not in sentence
    return sentence


def fails(node: Node, *inputs: object) -> None:
    raise ValueError("two\nlines")


def leaves(node: Node, *inputs: object) -> None:
    raise SystemExit(1)


@pytest.mark.parametrize("function", [fails, leaves])
def test_exceptions(function: Callable[..., None]) -> None:
    line = function.__code__.co_firstlineno + 1
    own = layer(shapes=function, floats=function, codes=function, costs={"cpu": function})
    kind = "ValueError: two lines" if function is fails else "SystemExit: 1"
    for call in (
        lambda: output_shapes(own, NODE, 1),
        lambda: float_values(own, NODE, [X]),
        lambda: coded_values(own, CODED, [X.astype(np.uint8)]),
        lambda: cost_of(own, NODE, "cpu"),
    ):
        sentence = message_of(call)
        assert f"line {line}:" in sentence
        assert f"raises {kind}" in sentence


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ([], "returns 0 shapes for 1 outputs"),
        ([(2, -1)], "returns [[2, -1]], with a size below 0"),
        ([(2, 1.5)], "raises AttributeError"),
        (None, "raises TypeError"),
    ],
)
def test_shapes_that_are_none(result: Any, sentence: str) -> None:
    assert sentence in message_of(lambda: output_shapes(layer(shapes=lambda node: result), NODE, 1))


def test_sizes_may_be_those_of_numpy() -> None:
    own = layer(shapes=lambda node: [np.array([2, 3])])
    assert output_shapes(own, NODE, 1) == ((2, 3),)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (X[0], "returns the shape [3]; the shape rule says [2, 3]"),
        (X.astype(np.int32), "returns int32 numbers; expected float32"),
        ((X, X), "returns 2 arrays for 1 outputs"),
        ("text", "returns the shape []"),
    ],
)
def test_floats_that_are_none(result: Any, sentence: str) -> None:
    own = layer(floats=lambda node, x: result)
    assert sentence in message_of(lambda: float_values(own, NODE, [X]))


def test_doubles_become_singles_and_stated_types_are_kept() -> None:
    (values,) = float_values(layer(floats=lambda node, x: x.astype(np.float64)), NODE, [X])
    assert values.dtype == np.float32
    own = layer(floats=lambda node, x: x.astype(np.int64), dtypes=("int64",))
    assert float_values(own, NODE, [X])[0].dtype == np.int64


def test_inputs_cannot_be_written() -> None:
    def writes(node: Node, x: np.ndarray) -> np.ndarray:
        x += 1
        return x

    assert "read-only" in message_of(lambda: float_values(layer(floats=writes), NODE, [X]))


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (np.zeros((2, 3)), "returns float64 numbers, and codes are integers"),
        (np.full((2, 3), 256), "returns numbers from 256 to 256; codes reach from 0 to 255"),
        (np.full((2, 3), -1), "returns numbers from -1 to -1; codes reach"),
        (np.zeros((3, 2), np.uint8), "returns the shape [3, 2]"),
    ],
)
def test_codes_that_are_none(result: Any, sentence: str) -> None:
    own = layer(codes=lambda node, x: result)
    assert sentence in message_of(lambda: coded_values(own, CODED, [X.astype(np.uint8)]))


def test_costs() -> None:
    own = layer(costs={"cpu": Cost(cycles=5), "dsp": lambda node: 7})
    assert cost_of(own, NODE, "cpu") == Cost(cycles=5)
    assert cost_of(own, NODE, "gpu") is None
    assert "returns 7, which is no Cost" in message_of(lambda: cost_of(own, NODE, "dsp"))
    negative = layer(costs={"dsp": lambda node: Cost(cycles=-1)})
    assert "cycles is -1; expected a number from" in message_of(
        lambda: cost_of(negative, NODE, "dsp")
    )


def test_a_scale_goes_both_ways() -> None:
    scale = Scale(0.5, 10, 8)
    assert scale.real(np.array([10, 12], np.uint8)).tolist() == [0.0, 1.0]
    assert scale.codes(np.array([0.25, -0.25, 1e9, -1e9])).tolist() == [11, 10, 255, 0]
