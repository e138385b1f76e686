"""Operands are codes where a layer of ours reads them, and stay as they are elsewhere."""

import numpy as np

from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import Elementwise, Opaque, Prelu
from hexsim.quantization.operands import coded_operands, stays_as_it_is


def _network() -> Network:
    def opaque(name: str, *inputs: str) -> Opaque:
        return Opaque(
            name=name,
            inputs=inputs,
            outputs=(f"{name}.y",),
            op_type="If",
            node=b"",
            shapes=((1, 2),),
        )

    layers = (
        opaque("first", "x", "both", "alone", "axes"),
        Elementwise(name="add", inputs=("first.y", "own", "both"), outputs=("add.y",), kind="sum"),
        Elementwise(name="count", inputs=("n", "numbers"), outputs=("count.y",), kind="sum"),
        Prelu(name="prelu", inputs=("add.y",), outputs=("prelu.y",), slope="slope"),
        opaque("last", "prelu.y", "alone", "slope"),
    )
    names = ("x", "n", *(layer.output for layer in layers))
    types = dict.fromkeys(("axes", "numbers"), "int64")
    return Network(
        "operands",
        layers,
        {name: Tensor(name, (1, 2)) for name in names},
        {
            name: Constant(name, (2,), np.ones(2), types.get(name, "float32"))
            for name in ("both", "alone", "axes", "own", "numbers", "slope")
        },
        ("x", "n"),
        ("last.y",),
    )


def test_floats_that_a_layer_of_ours_reads_are_codes_in_order() -> None:
    assert coded_operands(_network()) == ("own", "both")


def test_what_stays_as_it_is_says_why() -> None:
    network = _network()
    reasons = {name: stays_as_it_is(name, network) for name in (*network.constants, "x", "add.y")}
    assert {name: reason for name, reason in reasons.items() if reason} == {
        "alone": "layer 'first' (If) computes with it as it is",
        "axes": "it holds int64 numbers",
        "numbers": "it holds int64 numbers",
    }
