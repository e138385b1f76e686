"""What encodings lose for certain: worked by hand, and the same through API and file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.evidence import NO_EVIDENCE, dead_channels, dead_codes, extremes
from hexsim.quantization.model import Model
from tests.thorough import examples


def _joined(scale: float) -> onnx.ModelProto:
    """Concat of x (boxes) with the sigmoid of y (scores, 0 to 1); x lies in 0 to `scale`."""
    box = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 2, 2])
    score = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 2, 2])
    out = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    factor = helper.make_tensor("k", TensorProto.FLOAT, [1], [scale])
    nodes = [
        helper.make_node("Mul", ["x", "k"], ["boxes"], name="scaled"),
        helper.make_node("Sigmoid", ["y"], ["scores"], name="sigmoid"),
        helper.make_node("Concat", ["boxes", "scores"], ["z"], name="joining", axis=1),
    ]
    graph = helper.make_graph(nodes, "g", [box, score], [out], [factor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _quantized(scale: float, **options: int) -> Model:
    feed = {
        "x": np.linspace(0, 1, 16, dtype=np.float32).reshape(1, 4, 2, 2),
        "y": np.linspace(-4, 8, 16, dtype=np.float32).reshape(1, 4, 2, 2),
    }
    chosen = hexsim.QuantizationOptions(**options)  # type: ignore[arg-type]
    return hexsim.quantize(hexsim.load(_joined(scale)), [feed], chosen)


def test_scores_below_half_a_step_of_the_joined_output_are_reported() -> None:
    # A step of 0 to 765 is 765 / 255 = 3; half of it, 1.5, is more than any score.
    (finding,) = _quantized(765.0).findings
    assert (finding.kind, finding.layer, finding.tensor) == (
        "joined below a step",
        "joining",
        "scores",
    )
    assert finding.sentence == (
        "of 16 values of 'scores' whose codes are not zero on the first calibration input, 0 "
        "survive in 'z' of layer 'joining': they reach 1, and a step of 'z' is 3; convert with "
        "the tensors before it as outputs (output_names), or quantise with activation_bits=16"
    )


def test_encodings_alone_tell_that_no_score_can_survive() -> None:
    # As of a file without counts.
    (finding,) = replace(_quantized(765.0), evidence=NO_EVIDENCE).findings
    assert finding.sentence.startswith(
        "all 16 values of 'scores' become zero in layer 'joining': they reach 1, and a step of "
        "'z' is 3;"
    )


def _of_scores(large: int) -> Model:
    """50 scores: `large` of 8 and the others of 1, joined with 1020, so that a step is 4."""
    sizes = [1.0] * (50 - large) + [8.0] * large
    names = ("x", "y")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 50]) for name in names]
    graph = helper.make_graph(
        [helper.make_node("Concat", ["x", "y"], ["z"], name="joining", axis=1)],
        "g",
        ends,
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    feed = {
        "x": np.full((1, 50), 1020, np.float32),
        "y": np.array([sizes], np.float32),
    }
    return hexsim.quantize(hexsim.load(proto), [feed])


def test_few_survivors_are_reported(tmp_path: Path) -> None:
    # A score of 1 is a quarter of a step of 4, and lost; one of 8 is 2 steps. 4 of 50 are 8 %.
    model = _of_scores(4)
    (finding,) = model.findings
    assert (finding.tensor, finding.share) == ("y", 0.92)
    assert finding.sentence.startswith("of 50 values of 'y' whose codes are not zero on the first")
    assert ", 4 survive in 'z' of layer 'joining'" in finding.sentence
    hexsim.save(model, tmp_path / "q.dlc")
    assert hexsim.load(tmp_path / "q.dlc").findings == model.findings


def test_a_tenth_of_survivors_is_not_reported() -> None:
    assert _of_scores(5).findings == ()


def _convolution(weights: list[list[float]], bias: list[float] | None = None) -> onnx.ModelProto:
    """A 1x1 convolution of x to y with a row of weights per output channel."""
    shape, values = [len(weights), len(weights[0]), 1, 1], np.ravel(weights)
    tensors = [helper.make_tensor("w", TensorProto.FLOAT, shape, values)]
    if bias is not None:
        tensors.append(helper.make_tensor("b", TensorProto.FLOAT, [len(bias)], bias))
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", *(tensor.name for tensor in tensors)], ["y"], name="conv")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, len(weights[0]), 2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_dead_channels_are_reported(tmp_path: Path) -> None:
    # A step of -1 to 1 is 2 / 255 = 0.0078: weights of 0.003 are less than half of it.
    model = hexsim.quantize(hexsim.load(_convolution([[1, -1], [0.003, 0.002], [0, 0], [1, 0]])))
    (finding,) = model.findings
    assert (finding.kind, finding.tensor, finding.share) == ("dead channels", "w", 0.25)
    assert finding.sentence == (
        "2 of 4 output channels of layer 'conv' are dead, all their codes in weight 'w' stand "
        "for zero: in floats, weights of 1 of these reach 0.003; quantise with axis_weights=True"
    )
    hexsim.save(model, tmp_path / "q.dlc")
    assert hexsim.load(tmp_path / "q.dlc").findings == model.findings
    (alone,) = replace(model, evidence=NO_EVIDENCE).findings
    assert alone.share == 0.5
    assert "where the float weights are not zero, quantise with axis_weights=True" in alone.sentence


def test_channels_of_zeros_are_no_loss() -> None:
    (finding,) = hexsim.quantize(hexsim.load(_convolution([[1, -1], [0, 0]]))).findings
    assert finding.share == 0.0
    assert finding.sentence.endswith(
        "they are dead in floats too, and can be taken out of the network"
    )


def _overridden(
    proto: onnx.ModelProto, tmp_path: Path, inputs: list[np.ndarray] | None = None, **sections: str
) -> Model:
    """`proto` quantised with encodings by section, as JSON."""
    texts = {"activation_encodings": "{}", "param_encodings": "{}", **sections}
    keys = tmp_path / "keys.json"
    lines = ", ".join(f'"{name}": {text}' for name, text in texts.items())
    keys.write_text(f'{{"version": "0.6.1", {lines}}}')
    return hexsim.quantize(hexsim.load(proto), inputs, overrides=hexsim.read_overrides(keys))


def _key(low: float, high: float) -> str:
    return (
        f'[{{"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "min": {low}, "max": {high}}}]'
    )


def test_steps_too_small_for_a_bias_are_reported(tmp_path: Path) -> None:
    # A step of x is below 10 / 255 and one of the weight is 1e-12. So 2^31 steps of products are
    # below 2^31 * 0.04 * 1e-12 = 8.6e-5, and the bias of the first channel is 1.
    proto = _convolution([[1e-10, 1e-10], [1e-10, 1e-10]], [1.0, 0.0])
    key = (
        '[{"bitwidth": 8, "dtype": "int", "is_symmetric": "True", "min": -128e-12, '
        '"max": 127e-12, "scale": 1e-12, "offset": -128}]'
    )
    (finding,) = _overridden(proto, tmp_path, param_encodings=f'{{"w": {key}}}').findings
    assert (finding.kind, finding.share) == ("steps too small", 0.5)
    assert finding.sentence.startswith("1 of 2 output channels of layer 'conv' have steps in")


def test_an_override_that_leaves_most_codes_unused_is_reported(tmp_path: Path) -> None:
    # The inputs reach less than 5, and a step of -12750 to 12750 is 100.
    proto = _convolution([[1, -1], [1, 1]])
    feed = np.linspace(-4, 4, 8, dtype=np.float32).reshape(1, 2, 2, 2)
    wide = f'{{"y": {_key(-12750, 12750)}}}'
    model = _overridden(proto, tmp_path, [feed], activation_encodings=wide)
    (finding,) = model.findings
    assert (finding.kind, finding.layer, finding.tensor) == ("unused range", "conv", "y")
    assert finding.sentence.startswith("'y' uses 1 of 256 codes: calibration saw -")
    hexsim.save(model, tmp_path / "q.dlc")
    assert hexsim.load(tmp_path / "q.dlc").findings == model.findings
    narrower = f'{{"y": {_key(-10, 10)}}}'
    assert _overridden(proto, tmp_path, [feed], activation_encodings=narrower).findings == ()
    assert _overridden(proto, tmp_path, activation_encodings=wide).findings == (), "noise is small"


def _head(kept: float, other: float, function: str = "") -> Model:
    """Slice of the first of two channels, 1 at most; the second reaches `other` times as far."""
    nodes = [
        helper.make_node("Mul", ["x", "k"], ["both"], name="scaled"),
        helper.make_node(function or "Identity", ["both"], ["f"], name="function"),
        helper.make_node("Slice", ["f", "first", "last", "axis"], ["part"], name="slice"),
        helper.make_node("Flatten", ["part"], ["y"], name="flat"),
    ]
    numbers = {"first": [0], "last": [1], "axis": [1]}
    constants = [helper.make_tensor(n, TensorProto.INT64, [1], v) for n, v in numbers.items()]
    constants.append(helper.make_tensor("k", TensorProto.FLOAT, [1, 2, 1, 1], [kept, other]))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 2, 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    feed = np.linspace(0.5, 1, 8, dtype=np.float32).reshape(1, 2, 2, 2)
    return hexsim.quantize(hexsim.load(proto), [feed])


def test_a_small_part_of_a_tensor_with_larger_values_is_told_once() -> None:
    """The slice keeps 0 to 0.75 of 0 to 1000: a step is 4; its reshape says nothing more."""
    (finding,) = _head(1.0, 1000.0).findings
    assert (finding.kind, finding.layer) == ("unused range", "slice")
    assert " uses 1 of 256 codes: calibration saw 0.5 to 0.714, " in finding.sentence
    assert _head(1.0, 10.0).findings == ()


def test_a_part_of_a_tensor_whose_range_is_that_of_its_function_is_not_told() -> None:
    """A sigmoid reaches from 0 to 1, whatever calibration saw of this part."""
    assert _head(-8.0, 8.0, "Sigmoid").findings == ()


def test_scores_of_a_step_are_not_reported() -> None:
    # A step of 0 to 255 is 1, so a score of 0.9997 is the code 1.
    assert _quantized(255.0).findings == ()


def test_sixteen_bits_help() -> None:
    assert _quantized(765.0, activation_bits=16).findings == ()


def test_a_file_tells_the_same(tmp_path: Path) -> None:
    model = _quantized(765.0)
    hexsim.save(model, tmp_path / "q.dlc")
    assert hexsim.load(tmp_path / "q.dlc").findings == model.findings


def test_the_loss_is_real() -> None:
    # What is told is what the integer run does: no score is left.
    feed = {"x": np.ones((1, 4, 2, 2), np.float32), "y": np.full((1, 4, 2, 2), 8, np.float32)}
    (answer,) = hexsim.run(_quantized(765.0), [feed], runtime="dsp", chip="sd835")
    assert np.count_nonzero(answer["z"][:, 4:]) == 0
    assert np.count_nonzero(answer["z"][:, :4]) == 16


@examples(40)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([4, 8]))
def test_codes_of_a_file_show_the_channels_that_its_weights_show(
    seed: int, by_channel: bool, bits: int
) -> None:
    """Reading codes alone is quicker than making floats of them."""
    rng = np.random.default_rng(seed)
    reach = 10.0 ** rng.integers(-6, 1, 5)
    weight = (rng.normal(0, 1, (3, 3, 4, 5)) * reach * rng.integers(0, 2, 5)).astype(np.float32)
    limits = np.abs(weight).max(axis=(0, 1, 2))
    encoding: Encoding | AxisEncoding = Encoding.from_range(
        float(weight.min()), float(weight.max()), bits
    )
    if by_channel:
        encoding = AxisEncoding(
            tuple(Encoding.symmetric_of(max(float(limit), 1e-3), bits) for limit in limits)
        )
    codes = encoding.quantize(weight)
    zero = 0 if by_channel else encoding.zero_point  # type: ignore[union-attr]
    expected = [bool((codes[..., channel] == zero).all()) for channel in range(5)]
    for dead in (
        dead_codes(codes, encoding),
        dead_channels(weight, encoding),
        dead_channels(extremes(weight), encoding),
    ):
        assert dead.tolist() == expected


def test_weights_far_beyond_their_override_are_reported(tmp_path: Path) -> None:
    # Six weights, an override of -1 to 1: 3, -4 and 1.5 lie beyond, and 4 is more than twice 1.
    values = [0.5, 3.0, -4.0, 1.5, 0.25, -0.5]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="conv")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("w", TensorProto.FLOAT, [2, 3, 1, 1], values)],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    keys = tmp_path / "keys.json"
    keys.write_text(
        '{"version": "0.6.1", "activation_encodings": {}, "param_encodings": {"w": [{"bitwidth": '
        '8, "dtype": "int", "is_symmetric": "False", "min": -1.0, "max": 1.0}]}}'
    )
    model = hexsim.load(proto)
    (finding,) = hexsim.quantize(model, overrides=hexsim.read_overrides(keys)).findings
    assert (finding.kind, finding.tensor, finding.share) == ("saturated weights", "w", 0.5)
    assert finding.sentence.startswith("3 of 6 values of weight 'w' of layer 'conv' lie beyond")
    assert hexsim.quantize(model).findings == ()


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize(("size", "is_reported"), [(1e-3, True), (1.0, False)])
def test_gates_that_are_coarse_beside_small_states_are_reported(
    size: float, is_reported: bool, bits: Literal[8, 16]
) -> None:
    rng = np.random.default_rng(4)
    weights = [
        numpy_helper.from_array((size * rng.normal(size=shape)).astype(np.float32), name)
        for name, shape in (("w", (1, 18, 5)), ("r", (1, 18, 6)))
    ]
    graph = helper.make_graph(
        [helper.make_node("GRU", ["x", "w", "r"], ["y"], name="gru", hidden_size=6)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [7, 1, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    x = rng.normal(size=(7, 1, 5)).astype(np.float32)
    options = hexsim.QuantizationOptions(activation_bits=bits)
    findings = hexsim.quantize(hexsim.load(proto), [x], options=options).findings
    gates = [finding for finding in findings if finding.kind == "coarse gates"]
    assert len(gates) == is_reported
    if is_reported:
        assert "steps of its gates" in gates[0].sentence
        assert gates[0].layer == "gru"
        assert 0.5 < gates[0].share < 1


def test_a_file_whose_counts_are_not_possible_is_refused(tmp_path: Path) -> None:
    model = _of_scores(4)
    (survival,) = model.evidence.survivals
    for wrong in (replace(survival, surviving=51), replace(survival, tensor="none")):
        evidence = replace(model.evidence, survivals=(wrong,))
        with pytest.raises(hexsim.HexsimError, match="what calibration counted"):
            hexsim.save(replace(model, evidence=evidence), tmp_path / "wrong.dlc")
