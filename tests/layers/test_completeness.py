"""Every layer type has, in every room, what its declaration asks for; else a sentence says what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, get_args

import pytest

from hexsim.discovery import classes
from hexsim.graph.ir import Layer, Sign
from hexsim.graph.support import EVERYWHERE, INTEGER, NO_LAYER, Support
from hexsim.hvx.kernels import MODELS
from hexsim.int8.dispatch import PREPARERS, PREPARERS_16BIT
from hexsim.layers import TYPES, UserDefined
from hexsim.layers.elementwise import FUNCTIONS, ElementwiseKind, NeuronFunction
from hexsim.layers.elementwise import KINDS as ELEMENTWISE_KINDS
from hexsim.lowering import LOWERINGS, LoweredCall
from hexsim.onnx_io.write.emitters import EMITTERS
from hexsim.onnx_io.write.emitters.elementwise import WRITTEN
from hexsim.records import dataclass
from hexsim.studies.probes import KINDS, kernel_call

OF_THE_USER = {UserDefined}
"""Types whose floats are no operators, and whose cost is not ours to probe."""
STATED = ("type", "support", "sign", "moves_codes")
PROBED = {
    type(kernel_call(name, re.split(r"[ ,]", kind.example)[0]).layer)
    for name, kind in KINDS.items()
}


def missing(kind: type[Layer]) -> Iterator[str]:
    """Yield a sentence for everything that a layer type lacks."""
    name = kind.__name__
    file = re.sub(r"(?<=.)([A-Z])", r"_\1", name).lower() + ".py"
    own = [base for base in kind.__mro__ if issubclass(base, Layer) and base is not Layer]
    for fact in STATED:
        if not any(fact in vars(base) for base in own):
            yield f"{name} does not state `{fact}`: do so in hexsim/layers/{file}"
    if kind not in EMITTERS and kind not in OF_THE_USER:
        where = "hexsim/onnx_io/write/emitters"
        yield f"{name} has no emitter: add one to EMITTERS in a file of {where}"
    if isinstance(kind.support, Support) and not kind.support.targets & INTEGER:
        return
    if kind not in LOWERINGS:
        yield f"{name} is not lowered: add it to LOWERINGS in hexsim/lowering/{file}"
    if kind not in PROBED and kind not in OF_THE_USER:
        yield f"{name} has no probe: add a kind to KINDS in a file of hexsim/studies/probes"
    if kind.generic_cost and kind in MODELS:
        yield f"{name} has a kernel model: do not state `generic_cost`"
    if not kind.generic_cost and kind not in MODELS:
        yield (
            f"{name} has no kernel model: add it to MODELS in hexsim/hvx/kernels/{file}, or state "
            "`generic_cost` in its declaration"
        )


@pytest.mark.parametrize("kind", TYPES)
def test_a_layer_type_lacks_nothing(kind: type[Layer]) -> None:
    sentences = [*missing(kind)]
    assert not sentences, "\n".join(sentences)


@dataclass(frozen=True, kw_only=True)
class Bare(Layer):
    """A type that says nothing."""


@dataclass(frozen=True, kw_only=True)
class BareOnes(Layer):
    """A type that claims to run everywhere."""

    type: ClassVar[str] = "bare"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False


def test_what_a_type_does_not_state_is_said_in_sentences() -> None:
    stated = [f"Bare does not state `{fact}`: do so in hexsim/layers/bare.py" for fact in STATED]
    assert [*missing(Bare)][: len(STATED)] == stated


def test_a_type_that_claims_the_integer_engines_owes_them_their_parts() -> None:
    assert [*missing(BareOnes)] == [
        "BareOnes has no emitter: add one to EMITTERS in a file of hexsim/onnx_io/write/emitters",
        "BareOnes is not lowered: add it to LOWERINGS in hexsim/lowering/bare_ones.py",
        "BareOnes has no probe: add a kind to KINDS in a file of hexsim/studies/probes",
        "BareOnes has no kernel model: add it to MODELS in hexsim/hvx/kernels/bare_ones.py, or "
        "state `generic_cost` in its declaration",
    ]


def test_a_stated_generic_cost_needs_no_model_and_a_float_type_no_integers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BareOnes, "generic_cost", True)
    assert not any("kernel" in sentence for sentence in missing(BareOnes))
    monkeypatch.setitem(MODELS, BareOnes, None)
    assert "BareOnes has a kernel model: do not state `generic_cost`" in missing(BareOnes)
    monkeypatch.setattr(BareOnes, "support", NO_LAYER)
    assert len([*missing(BareOnes)]) == 1


def test_every_function_says_who_takes_it() -> None:
    assert set(FUNCTIONS) == set(get_args(NeuronFunction)) == {"clamp", *WRITTEN}
    assert set(ELEMENTWISE_KINDS) == set(get_args(ElementwiseKind))


@pytest.mark.parametrize("call", sorted(classes("hexsim.lowering", LoweredCall), key=str))
def test_every_bound_call_is_prepared(call: type[LoweredCall]) -> None:
    assert call is LoweredCall or call in {**PREPARERS, **PREPARERS_16BIT}, (
        f"{call.__name__} has no kernel: add it to PREPARERS in a file of hexsim/int8/pointwise"
    )
