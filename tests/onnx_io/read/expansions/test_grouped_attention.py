"""GroupQueryAttention in its forms with constant lengths, and a table of codes in blocks."""

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read_with_codes
from hexsim.passes import optimize
from tests.conftest import run_onnx
from tests.onnx_io.read.expansions.judged import assert_same, fused, model_of

RNG = np.random.default_rng(8)
TOKENS, PAST, HEADS, GROUPS, SIZE = 3, 5, 4, 2, 16
LENGTHS = {"n": np.array([7], np.int32), "t": np.array(8, np.int32)}
TURNS = RNG.uniform(-3, 3, (9, SIZE // 2)).astype(np.float32)
TABLES = {"c": np.cos(TURNS), "s": np.sin(TURNS)}
FLAGS = {"num_heads": HEADS, "kv_num_heads": GROUPS}


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def feed_of(*, packed: bool = False) -> dict[str, np.ndarray]:
    past = {name: normal(1, GROUPS, PAST, SIZE) for name in ("pk", "pv")}
    if packed:
        return {"q": normal(1, TOKENS, (HEADS + 2 * GROUPS) * SIZE), **past}
    new = {name: normal(1, TOKENS, GROUPS * SIZE) for name in ("k", "v")}
    return {"q": normal(1, TOKENS, HEADS * SIZE), **new, **past}


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ("q k v pk pv n t", {}),
        ("q k v pk pv n t", {"scale": 0.3, "softcap": 2.0}),
        ("q k v pk pv n t c s", {"do_rotary": 1}),
        ("q k v pk pv n t c s", {"do_rotary": 1, "rotary_interleaved": 1}),
        ("q - - pk pv n t c s", {"do_rotary": 1, "local_window_size": 9}),
        ("q k v pk pv n t", {"local_window_size": 4}),
        ("q - - pk pv n t c s", {"do_rotary": 1, "local_window_size": 1}),
    ],
)
def test_attention_after_a_cache(inputs: str, attributes: dict[str, Any]) -> None:
    window = attributes.get("local_window_size", PAST + TOKENS)
    if window < PAST + TOKENS and onnxruntime.__version__.startswith("1.20."):
        pytest.skip("the windows of this onnxruntime have one key more")
    feed = feed_of(packed="- -" in inputs)
    node = fused("GroupQueryAttention", inputs, "y a b", **FLAGS, **attributes)
    assert_same(model_of([node], feed, {**LENGTHS, **TABLES}, "y a b"), feed)


@pytest.mark.parametrize("past", [0, 2])
@pytest.mark.parametrize("inputs", ["q k v pk pv n t", "q - - pk pv n t c s"])
def test_a_cache_with_room_for_later_tokens(past: int, inputs: str) -> None:
    """What is written has the room of what is read; behind the new tokens it means nothing."""
    feed = feed_of(packed="- -" in inputs)
    total = past + TOKENS
    lengths = {"n": np.array([total - 1], np.int32), "t": np.array(total, np.int32)}
    flags = {**FLAGS, "do_rotary": 1} if "c s" in inputs else FLAGS
    node = fused("GroupQueryAttention", inputs, "y a b", **flags)
    model = model_of([node], feed, {**lengths, **TABLES}, "y a b")
    network = optimize(read_with_codes(model).network)
    stored = {name: network.tensors[name].from_source(array) for name, array in feed.items()}
    outputs = FloatEngine(network).run(stored)
    for name, expected in run_onnx(model, feed).items():
        got = network.tensors[name].to_source(outputs[name])
        assert got.shape == expected.shape
        kept = slice(None) if name == "y" else (slice(None), slice(None), slice(total))
        np.testing.assert_allclose(got[kept], expected[kept], rtol=1e-4, atol=5e-6)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"n": np.array([5], np.int32)}, "its lengths are not those of 3 new tokens after at most"),
        (
            {"n": np.array([6], np.int32), "t": np.array(7, np.int32)},
            "its cache has room for 5 of 7 tokens",
        ),
        ({"local_window_size": 0}, "its window hides all keys"),
        ({"smooth_softmax": 1}, "it has sinks"),
    ],
)
def test_what_is_not_supported_stays(changed: dict[str, Any], reason: str) -> None:
    feed = feed_of()
    arrays = {name: value for name, value in changed.items() if isinstance(value, np.ndarray)}
    attributes = {name: value for name, value in changed.items() if name not in arrays}
    node = fused("GroupQueryAttention", "q k v pk pv n t", "y a b", **FLAGS, **attributes)
    model = model_of([node], feed, {**LENGTHS, **arrays}, "y a b")
    shapes = {"y": (1, TOKENS, HEADS * SIZE)} | dict.fromkeys("ab", (1, GROUPS, 8, SIZE))
    for end in model.graph.output:
        end.CopyFrom(helper.make_tensor_value_info(end.name, 1, shapes[end.name]))
    (left,) = read_with_codes(model).report.opaque
    assert left.reason.startswith(reason)


@pytest.mark.parametrize(
    ("name", "array", "fault"),
    [
        ("pk", normal(1, PAST), "its cache has 2 axes, not 4"),
        ("c", normal(SIZE // 2), "its table of cosines has 1 axes, not 2"),
    ],
)
def test_operands_of_another_rank_are_refused(name: str, array: np.ndarray, fault: str) -> None:
    arrays = {**feed_of(), **LENGTHS, **TABLES, name: array}
    feed = {key: arrays.pop(key) for key in feed_of()}
    node = fused("GroupQueryAttention", "q k v pk pv n t c s", "y a b", **FLAGS, do_rotary=1)
    with pytest.raises(HexsimError, match=fault):
        read_with_codes(model_of([node], feed, arrays, "y a b"))


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_a_table_of_codes_in_blocks(bits: int, zeros: bool) -> None:
    """Ten rows of 64 numbers in blocks of 32, of which some are looked up."""
    if onnxruntime.__version__.startswith("1.20."):
        pytest.skip("this onnxruntime does not know the attribute 'bits'")
    weights = {
        "d": RNG.integers(0, 256, (10, 64 * bits // 8), np.uint8),
        "s": normal(10, 2),
    }
    if zeros:
        weights["z"] = RNG.integers(0, 256, (10, 2 * bits // 8), np.uint8)
    feed = {"i": np.array([[3, 0, 9]])}
    inputs = "d i s z" if zeros else "d i s"
    node = fused("GatherBlockQuantized", inputs, bits=bits, block_size=32, quantize_axis=1)
    assert_same(model_of([node], feed, weights, "y"), feed, opaque=["Gather"])
