"""Tensors are found by their own names and by those of layers."""

import pytest

from hexsim.errors import HexsimError
from hexsim.execution.net_run import wanted
from hexsim.graph.ir import Network, Tensor
from hexsim.graph.output_names import NamedTensors, tensors_named
from hexsim.layers import Neuron

TENSORS = {name: Tensor(name, (1, 4)) for name in ("x", "a", "b", "both")}
NETWORK = Network(
    "names",
    (
        Neuron(name="first", inputs=("x",), outputs=("a",), fused=("taken",), function="tanh"),
        Neuron(name="both", inputs=("a",), outputs=("b",), function="tanh"),
        Neuron(name="last", inputs=("b",), outputs=("both",), function="tanh"),
    ),
    TENSORS,
    {},
    ("x",),
    ("both",),
)


@pytest.mark.parametrize(
    ("name", "kind", "tensors", "remark"),
    [
        ("first", "layer", ("a",), ""),
        ("a", "tensor", ("a",), ""),
        ("both", "layer", ("b",), ""),  # a layer and a tensor have this name
        ("both", "tensor", ("both",), ""),
        ("a", "layer", ("a",), "'a' is a tensor, not a layer; it is taken itself"),
        (
            *("first", "tensor", ("a",)),
            "'first' is a layer, not a tensor; its output 'a' is taken",
        ),
        ("taken", "layer", ("a",), "'taken' is part of layer 'first'; its output 'a' is taken"),
        ("taken", "tensor", ("a",), "'taken' is part of layer 'first'; its output 'a' is taken"),
    ],
)
def test_found(name: str, kind: str, tensors: tuple[str, ...], remark: str) -> None:
    assert tensors_named(NETWORK, name, kind) == NamedTensors(tensors, remark)


@pytest.mark.parametrize("kind", ["layer", "tensor"])
def test_unknown(kind: str) -> None:
    with pytest.raises(HexsimError, match=f"unknown {kind} 'none'"):
        tensors_named(NETWORK, "none", kind)


def test_a_run_writes_and_tells_them() -> None:
    reported: list[str] = []
    assert wanted(NETWORK, ["a"], ["first", "both"], every=False, reported=reported.append) == (
        "a",
        "both",
    )
    assert len(reported) == 2
