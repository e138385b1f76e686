"""What is wrong with files of Caffe is told in a sentence that names the place."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from tests.frameworks.caffe.made import block, caffemodel, layer, net, stored, varint
from tests.thorough import examples

W, B = np.ones((4, 3, 3, 3), np.float32), np.zeros(4, np.float32)
HELD = caffemodel({"a": (W, B)})
IMAGE = {"data": (1, 3, 9, 9)}


def layer_text(kind: str, parameters: str = "", bottoms: str = "data", tops: str = "y") -> str:
    return net(layer("a", kind, bottoms, tops, parameters), **IMAGE)


def conv(parameters: str) -> str:
    return layer_text("Convolution", f"convolution_param {{ {parameters} }}")


def pool(parameters: str) -> str:
    return layer_text("Pooling", f"pooling_param {{ {parameters} }}")


REFUSED = {
    "layer {": 'line 1, column 7: Expected "}"',
    "layer { name: }": "line 1, column 15: Expected string but found: '}'",
    "name: 'x'\nlayer { name }": 'line 2, column 14: Expected ":"',
    "name: 'x' }": "line 1, column 11: Expected identifier or number, got }",
    "name: 'x' @": "column 11: Expected identifier or number, got @",
    "name: 'x' \x1b[2J": r"\\x1b",
    "layer {" * 80: "line 1, column 561: Expected identifier or number, got the end",
    "layer {" * 9000: "nested too deep",
    "name: 'empty'": "describes no layers",
    "name: 1 layer { }": "line 1, column 7: Expected string but found: '1'",
    "layer { name: 'a' }": "layer 1 of .*|layer 'a'.*it has no type",
    "layer { type: 'ReLU' } layers { type: RELU }": "mixes 'layer' and 'layers'",
    "layers { layer { name: 'a' type: 'relu' } }": "first format",
    "strange: 1 layer { type: 'ReLU' }": "parameter 'strange' is not known",
    layer_text(
        "ReLU", "strange_param { a: [1] b < c: 1 > }"
    ): r"'strange_param' is not known .line 3.;",
    layer_text("ReLU", "pooling_param { pool: AVE }"): "parameter 'pooling_param' is not known",
    layer_text("ReLU", "[x.y]: 1"): "does not have extensions",
    f"name: '{'x' * 70000}'": "line 1: it has 70008 characters; break it",
    "#\n" * 2**20 + "#": "the description of a network may have",
    "input: 'x' layer { type: 'ReLU' bottom: 'x' top: 'y' }": "input 'x' .*has no shape",
    "input: 'x' input_dim: 1 layer { type: 'ReLU' bottom: 'x' top: 'y' }": "1 inputs, and shapes",
    layer_text("ReLU", bottoms="nothing"): "reads blob 'nothing', which no layer before it writes",
    layer_text("ReLU", bottoms="data data"): "2 bottoms",
    layer_text("Split", tops="y y"): "writes one blob twice",
    layer_text("Convolutoin"): "did you mean Convolution",
    layer_text("Data", bottoms=""): "training data",
    layer_text("SoftmaxWithLoss"): "is a layer for training",
    layer_text(
        "ReLU", "relu_param { slope: 1 }"
    ): "parameter 'slope' is not known .line 3.; did you mean negative_slope",
    layer_text("ReLU", "relu_param { negative_slope: nan }"): "should be a finite number",
    layer_text("ReLU", "relu_param { negative_slope: 1e39 }"): "should be a finite number",
    layer_text("ReLU", "relu_param: 1"): 'line 3, column .*: Expected "{"',
    layer_text(
        "ReLU", "relu_param { } relu_param { }"
    ): 'should not have multiple "relu_param" fields',
    layer_text("ReLU", "include { } exclude { }"): "both 'include' and 'exclude'",
    conv("kernel_size: 3"): "no 'num_output'",
    conv("num_output: 4"): "no 'kernel_size'",
    conv("num_output: 4 kernel_size: 3 kernel_h: 3"): "'kernel_size' and 'kernel_h'",
    conv("num_output: 4 kernel_size: 0"): "at least 1",
    conv("num_output: 4 kernel_size: 3 stride: 0"): "at least 1",
    conv("num_output: 4 kernel_size: 3 pad: -1"): "at least 0",
    conv("num_output: 0 kernel_size: 3"): "'num_output' is 0",
    conv("num_output: 4 kernel_size: 3 group: 2"): "2 groups",
    conv("num_output: 4 kernel_size: 33"): "spans 33 pixels of 9",
    conv(
        "num_output: 4 kernel_size: 99999999999"
    ): "line 3, column .*: Value out of range: 99999999999",
    conv("num_output: 4 kernel_size: 2.5"): "line 3, column .*: Couldn't parse integer: 2.5",
    conv("num_output: 4 kernel_size: 5"): r"weights have the shape \[4, 3, 3, 3\]",
    conv("num_output: 4 kernel_size: 3 pad: 2000000"): "the budget is",
    conv("num_output: 4 kernel_size: 3 bias_term: maybe"): 'Expected "true" or "false"',
    pool("pool: MEDIAN kernel_size: 2"): "line 3, .* has no value named MEDIAN",
    pool("pool: STOCHASTIC kernel_size: 2"): "stochastic",
    pool("kernel_size: 1 stride: 3 pad: 1"): "are not smaller than its windows",
    pool("kernel_size: 1 stride: 5"): "begins beyond the image",
    pool("global_pooling: true kernel_size: 3"): "no 'kernel_size'",
    layer_text("LRN", "lrn_param { local_size: 4 }"): "must be odd",
    layer_text("BatchNorm", "batch_norm_param { use_global_stats: false }"): "by each batch",
    layer_text("BatchNorm"): "its blobs|needs 3 blobs",
    layer_text("PReLU"): r"its slopes have the shape",
    layer_text("Softmax", "softmax_param { axis: 4 }"): "'axis' is 4",
    layer_text("Clip"): "'min' and 'max'",
    layer_text("Exp", "exp_param { base: 1 }"): "'base' is 1",
    layer_text("Eltwise"): "takes two or more",
    layer_text("Eltwise", "eltwise_param { coeff: 1 }", "data data"): "1 values of 'coeff'",
    layer_text("Slice", tops="a b"): "the division has a rest",
    layer_text("Slice", "slice_param { slice_point: 3 }", tops="a b"): "does not cut 3 into 2",
    layer_text("Concat", "concat_param { axis: 1 concat_dim: 1 }"): "its old name",
    layer_text("Reshape", "reshape_param { shape { dim: 5 } }"): "reshapes 243 values",
    layer_text("Reshape", "reshape_param { shape { dim: -1 dim: -1 } }"): "does not fit 243 values",
    layer_text(
        "Reshape", "reshape_param { shape { dim: 0 dim: 0 dim: 0 dim: 0 dim: 0 } }"
    ): "is not a valid size",
    layer_text("Reshape", "reshape_param { axis: 9 }"): "do not fit 4 axes",
    layer_text("Flatten", "flatten_param { axis: 2 end_axis: 1 }"): "comes before",
    layer_text("Crop", "crop_param { offset: 8 }", "data data"): "it cuts",
    layer_text("Tile", "tile_param { tiles: 100000000 }"): "the budget is",
    layer_text("Permute", "permute_param { order: 7 }"): "does not fit 4 axes",
    layer_text("ShuffleChannel", "shuffle_channel_param { group: 2 }"): "2 groups do not fit",
    layer_text("Reduction"): "results per batch item",
    layer_text("ArgMax", "argmax_param { top_k: 5 }"): "top_k",
}


@pytest.mark.parametrize("text", REFUSED, ids=REFUSED.values())
def test_a_prototxt_that_is_wrong(text: str, tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=REFUSED[text]) as caught:
        load(stored(tmp_path, text, HELD))
    assert str(caught.value).isprintable()


RIGHT = conv("num_output: 4 kernel_size: 3")
DAMAGED = {
    b"": "holds no weights",
    b"hello": "no caffemodel, or a damaged one",
    b"\xff" * 40: "a damaged one; download it again",
    HELD[:-1]: "or a damaged one; download",
    caffemodel({"b": (W, B)}): "the caffemodel has 0 for it",
    caffemodel({"a": (W,)}): "needs 2 blobs of weights",
    block(100, block(1, b"a") + block(7, block(5, b"abc"))): "holds 0 numbers",
    block(100, block(1, b"a") + block(7, b"")): "no float or double",
    block(100, block(1, b"\xff") + block(7, b"")): "'.*net.caffemodel' is no caffemodel",
    block(100, block(1, b"a") + block(7, block(5, bytes(4)) + block(8, bytes(8)))): (
        "of several types"
    ),
    block(100, block(1, b"a") + block(7, block(5, bytes(4)) + b"\x2d" + bytes(4))): (
        "numbers of several types"
    ),
    block(
        100,
        block(1, b"a") + block(7, block(7, block(1, 2 * varint(2**64 - 2))) + block(5, bytes(16))),
    ): r"shape \[-2, -2\]",
    block(100, block(1, b"a") + block(7, block(7, block(1, b"\x01" * 33)) + block(5, bytes(4)))): (
        "holds 1 numbers for shape"
    ),
    block(100, block(1, b"a") + block(7, block(7, block(1, varint(2**62))) + block(5, bytes(8)))): (
        "for shape"
    ),
}


@pytest.mark.parametrize("data", DAMAGED, ids=DAMAGED.values())
def test_a_caffemodel_that_is_wrong(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=DAMAGED[data]):
        load(stored(tmp_path, RIGHT, data))


def test_weights_for_what_is_no_prototxt(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match="'alexnet' is no prototxt"):
        load("alexnet", caffe_bin=tmp_path / "w.caffemodel")


def test_shapes_of_inputs_must_fit(tmp_path: Path) -> None:
    path = stored(tmp_path, RIGHT, HELD)
    for dims, words in (
        ({"nope": (1, 2)}, "unknown input"),
        ({"data": (1, 2)}, "has 2 dimensions"),
        ({"data": (1, 3, 0, 9)}, "at least 1"),
        ({"data": (1, 3, 9, 10**9)}, "the budget is"),
        ({"data": (1, 2, 9, 9)}, "weights have the shape"),
    ):
        with pytest.raises(HexsimError, match=words):
            load(path, input_dims=dims)


@st.composite
def damage(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    at, size = draw(st.integers(0, 10**4)), draw(st.integers(0, 6))
    put = draw(st.binary(max_size=6))
    return lambda data: data[: at % len(data)] + put + data[at % len(data) + size :]


@given(damage(), st.booleans())
@settings(examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_ends_in_a_sentence_or_in_a_network(
    tmp_path: Path, hurt: Callable[[bytes], bytes], weights: bool
) -> None:
    path = stored(tmp_path, RIGHT, HELD)
    target = path.with_suffix(".caffemodel") if weights else path
    target.write_bytes(hurt(target.read_bytes()))
    with suppress(HexsimError):
        load(path).network.check()
