"""Einsum in products, sums and transposes."""

import numpy as np
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.layers.support import refusal
from hexsim.onnx_io.read.reader import read, read_with_codes
from hexsim.passes import optimize
from tests.onnx_io.read.expansions.judged import assert_same, model_of

RNG = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


CASES = [
    ("bhqd,bhkd->bhqk", [(1, 2, 5, 8), (1, 2, 6, 8)]),
    ("bhqk,bhkd->bhqd", [(2, 2, 5, 6), (2, 2, 6, 8)]),
    ("bqhd,bkhd->bhqk", [(2, 5, 2, 8), (2, 6, 2, 8)]),
    ("bqhd,bkhd->bhkq", [(2, 5, 2, 8), (2, 6, 2, 8)]),
    ("ijk,kl->ijl", [(2, 3, 4), (4, 5)]),
    ("ijk,lk->ilj", [(2, 3, 4), (5, 4)]),
    ("i,j->ij", [(3,), (4,)]),
    ("bi,bj->bij", [(2, 3), (2, 4)]),
    ("bi,bi->b", [(2, 3), (2, 3)]),
    ("bij,bij->bij", [(2, 3, 4), (2, 3, 4)]),
    ("ijk->kij", [(2, 3, 4)]),
    ("ijk->j", [(2, 3, 4)]),
    ("ij->ij", [(2, 3)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("bchw,ec->behw", [(1, 3, 4, 5), (6, 3)]),
    ("nctkv,kvw->nctw", [(2, 3, 4, 2, 5), (2, 5, 5)]),
    ("...ij,...jk->...ik", [(2, 3, 4, 5), (1, 3, 5, 6)]),
    ("...i,i->...", [(2, 3, 4), (4,)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("abi,bj->abij", [(1, 3, 4), (3, 2)]),
    ("ii->i", [(4, 4)]),
    ("bii->b", [(2, 4, 4)]),
    ("bchw,bchw->bhw", [(2, 3, 4, 5), (2, 3, 4, 5)]),
    ("bchw,wcbh->h", [(2, 3, 4, 5), (5, 3, 2, 4)]),
    ("bchw,bkc->bkhw", [(1, 3, 4, 5), (1, 6, 3)]),
    ("bij,bjk->bik", [(1, 3, 4), (1, 4, 5)]),
]


@pytest.mark.parametrize(("equation", "shapes"), CASES)
@pytest.mark.parametrize("constant", [False, True])
def test_equations(equation: str, shapes: list[tuple[int, ...]], constant: bool) -> None:
    names = [f"x{place}" for place in range(len(shapes))]
    arrays = {name: normal(*shape) for name, shape in zip(names, shapes, strict=True)}
    node = helper.make_node("Einsum", names, ["y"], equation=equation, name="sum")
    weights = {n: arrays.pop(n) for n in names[1:]} if constant else {}
    model = model_of([node], arrays, weights, "y")
    assert_same(model, arrays)
    assert read_with_codes(model).report.expanded == {"sum": "Einsum"}


@pytest.mark.parametrize(
    ("equation", "shapes", "constant"),
    [
        ("bchw,bchw->bhw", [(1, 3, 4, 5), (1, 3, 4, 5)], False),
        ("bij,bjk->bik", [(1, 3, 4), (1, 4, 5)], True),
        ("bchw,bkc->bkhw", [(1, 3, 4, 5), (1, 6, 3)], True),
    ],
)
def test_the_dsp_of_snpe_has_layers_for_it(
    equation: str, shapes: list[tuple[int, ...]], constant: bool
) -> None:
    """It has no product of two tensors that are matrices."""
    node = helper.make_node("Einsum", ["a", "b"], ["y"], equation=equation, name="sum")
    arrays = {"a": normal(*shapes[0]), "b": normal(*shapes[1])}
    weights = {"b": arrays.pop("b")} if constant else {}
    network = optimize(read(model_of([node], arrays, weights, "y")))
    assert [refusal(layer, "dsp", network) for layer in network.layers] == [None] * len(
        network.layers
    )


@pytest.mark.parametrize(
    ("equation", "sentence"),
    [
        ("ij,kj,k->i", "is for 3 operands, not 2"),
        ("ijk,jk->i", "is no operand of 2 axes"),
        ("ij,jk->iz", "repeats a label, or has one of its own"),
        ("ij,ik->jk", "label 'i' is of size"),
        ("i1,jk->ik", "something else than letters"),
    ],
)
def test_one_that_fits_nothing_is_refused(equation: str, sentence: str) -> None:
    node = helper.make_node("Einsum", ["a", "b"], ["y"], equation=equation, name="sum")
    model = model_of([node], {"a": normal(2, 3), "b": normal(3, 4)}, {}, "y")
    with pytest.raises(HexsimError, match=f"node 'sum' .*{sentence}"):
        read(model)


def test_one_of_integers_stays() -> None:
    node = helper.make_node("Einsum", ["a", "a"], ["y"], equation="ij,ij->i", name="sum")
    model = model_of([node], {"a": np.ones((2, 3), np.int64)}, {}, "y")
    (left,) = read_with_codes(model).report.opaque
    assert (left.operator, left.reason) == ("Einsum", "not float32")
