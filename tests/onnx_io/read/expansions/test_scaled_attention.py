"""Attention of ONNX."""

from typing import Any

import numpy as np
import pytest
from onnx import helper

import hexsim
from hexsim.errors import HexsimError
from hexsim.onnx_io.read.reader import read, read_with_codes
from tests.conftest import run_onnx
from tests.onnx_io.read.expansions.judged import assert_same, model_of

RNG = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def plain(heads: int = 4, groups: int = 4) -> dict[str, np.ndarray]:
    """Five queries and six keys of size 8, and values of size 3."""
    return {
        "q": normal(2, heads, 5, 8),
        "k": normal(2, groups, 6, 8),
        "v": normal(2, groups, 6, 3),
    }


def attention(inputs: str = "q k v", outputs: str = "y", **attributes: Any) -> Any:
    names = [name.replace("-", "") for name in inputs.split()]
    results = [name.replace("-", "") for name in outputs.split()]
    return helper.make_node("Attention", names, results, name="attend", **attributes)


@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("attributes", [{}, {"scale": 0.3}, {"softcap": 2.0}, {"is_causal": 1}])
def test_four_axes(groups: int, attributes: dict[str, Any]) -> None:
    feed = plain(groups=groups)
    assert_same(model_of([attention(**attributes)], feed, {}, "y", 23), feed)


@pytest.mark.parametrize("groups", [4, 2])
def test_three_axes(groups: int) -> None:
    feed = {"q": normal(2, 5, 32), "k": normal(2, 6, groups * 8), "v": normal(2, 6, groups * 3)}
    node = attention(q_num_heads=4, kv_num_heads=groups)
    assert_same(model_of([node], feed, {}, "y", 23), feed)


@pytest.mark.parametrize("shape", [(5, 6), (1, 1, 5, 6), (2, 4, 5, 6)])
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("causal", [0, 1])
def test_constant_masks(shape: tuple[int, ...], kind: str, causal: int) -> None:
    mask = normal(*shape)
    if kind == "bool":
        mask = mask > 0
        mask[..., 0] = True
    feed = plain()
    model = model_of([attention("q k v m", is_causal=causal)], feed, {"m": mask}, "y", 23)
    network = assert_same(model, feed)
    assert sum(layer.type == "softmax" for layer in network.layers) == 1


def test_a_mask_of_floats_that_varies() -> None:
    feed = {**plain(), "m": normal(2, 1, 5, 6)}
    assert_same(model_of([attention("q k v m", softcap=3.0)], feed, {}, "y", 23), feed)


@pytest.mark.parametrize("causal", [0, 1])
def test_a_mask_of_booleans_that_varies(causal: int) -> None:
    mask = RNG.random((5, 6)) > 0.5
    mask[:, 2] = True
    mask[0] = mask[3] = False  # no key is left for these queries: zeros
    feed = {**plain(), "m": mask}
    node = attention("q k v m", is_causal=causal)
    model = model_of([node], feed, {}, "y", 23)
    assert_same(model, feed, opaque=["Cast"])
    (half,) = hexsim.run(hexsim.load(model), [feed], "sd8gen3", "htp_fp16")
    np.testing.assert_allclose(half["y"], run_onnx(model, feed)["y"], atol=0.02)


@pytest.mark.parametrize("axes", [3, 4])
@pytest.mark.parametrize("causal", [0, 1])
def test_a_past(axes: int, causal: int) -> None:
    feed = plain(4, 2)
    heads = {}
    if axes == 3:
        feed = {"q": normal(2, 5, 32), "k": normal(2, 6, 16), "v": normal(2, 6, 6)}
        heads = {"q_num_heads": 4, "kv_num_heads": 2}
    feed |= {"pk": normal(2, 2, 7, 8), "pv": normal(2, 2, 7, 3)}
    node = attention("q k v - pk pv", "y nk nv", is_causal=causal, **heads)
    assert_same(model_of([node], feed, {}, "y nk nv", 23), feed)


def test_one_whose_scores_are_read_stays() -> None:
    model = model_of([attention("q k v", "y - - s")], plain(), {}, "y", 23)
    (left,) = read_with_codes(model).report.opaque
    assert (left.operator, left.reason) == ("Attention", "its scores are an output")


def test_one_whose_mask_hides_everything_from_a_query_stays() -> None:
    mask = np.ones((5, 6), bool)
    mask[3] = False
    model = model_of([attention("q k v m")], plain(), {"m": mask}, "y", 23)
    (left,) = read_with_codes(model).report.opaque
    assert left.reason == "its mask hides all keys from a query"


def test_heads_that_do_not_share_are_refused() -> None:
    model = model_of([attention()], plain(4, 3), {}, "y", 23)
    with pytest.raises(HexsimError, match=r"node 'attend' .*4 heads of queries do not share 3"):
        read(model)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("left", "right"), [(2, -1), (1, 1), (-1, 0), (-1, -1)])
def test_a_window_of_keys(causal: int, left: int, right: int) -> None:
    """Three past keys; a mask of every pair says the same."""
    feed = {**plain(), "pk": normal(2, 4, 3, 8), "pv": normal(2, 4, 3, 3)}
    visible = [
        [
            (left < 0 or 3 + query - key <= left)
            and (right < 0 or key - query - 3 <= right)
            and (not causal or key <= 3 + query)
            for key in range(9)
        ]
        for query in range(5)
    ]
    windows = {"left_window_size": left, "right_window_size": right}
    node = attention("q k v - pk pv", "y a b", is_causal=causal, **windows)
    by_mask = attention("q k v m pk pv", "y a b")
    judge = model_of([by_mask], feed, {"m": np.array(visible)}, "y a b", 23)
    assert_same(model_of([node], feed, {}, "y a b", 25), feed, judge=judge)
