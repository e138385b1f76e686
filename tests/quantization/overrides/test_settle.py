"""Keys against a network: applied, ignored with the reason, unmatched with the nearest name."""

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import (
    RELU,
    BatchNorm,
    Concat,
    Convolution,
    Elementwise,
    Neuron,
    Pooling,
    Recurrent,
    Reshape,
    Window,
)
from hexsim.layers.elementwise import NeuronFunction
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import (
    FloatOverride,
    IntegerOverride,
    KeyOutcome,
    Override,
    Overrides,
    OverrideSource,
    Range,
)
from hexsim.quantization.overrides.floats import Unranged
from hexsim.quantization.overrides.settle import settle
from hexsim.quantization.quantizer import quantize

OPTIONS = QuantizationOptions()
ONE = Encoding.from_range(0, 1)
TWO = Encoding.from_range(0, 2)


def given(low: float, high: float, bits: int = 8) -> IntegerOverride:
    return IntegerOverride(bits, (Range(low, high),))


def network(branch: bool = False) -> Network:
    """x -> conv -> c -> max pool -> p -> reshape -> f -> add k -> y (and c -> batch norm -> n)."""
    layers = [
        Convolution(
            name="conv",
            inputs=("x",),
            outputs=("c",),
            weight="w",
            bias="b",
            window=Window((1, 1)),
            output_channels=3,
            fused=("relu",),
        ),
        Pooling(
            name="pool", inputs=("c",), outputs=("p",), kind="max", window=Window((2, 2), (2, 2))
        ),
        Reshape(name="flat", inputs=("p",), outputs=("f",), shape=(1, 12)),
        Elementwise(name="add", inputs=("f", "k"), outputs=("y",), kind="sum"),
    ]
    shapes = {"x": (1, 4, 4, 2), "c": (1, 4, 4, 3), "p": (1, 2, 2, 3), "f": (1, 12), "y": (1, 12)}
    constants = {
        "w": np.array([[[[-0.5, 2.0, 0.0], [1.0, 0.25, -1.5]]]], np.float32),
        "b": np.array([0.1, -0.2, 0.05], np.float32),
        "k": np.full((12,), 3.0, np.float32),
    }
    outputs = ["y"]
    if branch:
        layers.append(BatchNorm(name="bn", inputs=("c",), outputs=("n",), scale="s", shift="t"))
        shapes["n"] = shapes["c"]
        constants |= {"s": np.ones(3, np.float32), "t": np.zeros(3, np.float32)}
        outputs.append("n")
    return Network(
        "small",
        tuple(layers),
        {name: Tensor(name, shape) for name, shape in shapes.items()},
        {name: Constant(name, value.shape, value) for name, value in constants.items()},
        ("x",),
        tuple(outputs),
    )


def quantized(overrides: Overrides, branch: bool = False):
    rng = np.random.default_rng(3)
    inputs = [{"x": rng.uniform(-1, 2, (1, 4, 4, 2)).astype(np.float32)}]
    return quantize(network(branch), inputs, OPTIONS, overrides=overrides)


def outcome(overrides: Overrides, branch: bool = False) -> KeyOutcome:
    """What becomes of the last override."""
    return settle(overrides, network(branch), OPTIONS).outcomes[-1]


def test_given_encodings_replace_calibration_and_rules() -> None:
    model = quantized(
        Overrides({"c": given(0, 1), "k": given(0, 4)}, {"w": given(-3, 3), "b": given(-1, 1)})
    )
    assert model.activations["c"] == ONE
    assert model.activations["k"] == Encoding.from_range(0, 4)
    assert model.parameters == {
        "w": Encoding.from_range(-3, 3),
        "b": Encoding.from_range(-1, 1),
    }
    assert [(o.key, o.outcome, o.reason) for o in model.overrides] == [
        (key, "applied", "") for key in "ckwb"
    ]
    assert model.origins == {
        "x": "calibration (min to max)",
        "c": "override",
        "p": "that of 'c'",
        "f": "that of 'p'",
        "k": "override",
        "y": "calibration (min to max)",
        "w": "override",
        "b": "override",
    }


def test_origins_without_overrides() -> None:
    model = quantized(Overrides())
    assert model.origins["w"] == "weight rule (min to max)"
    assert model.origins["b"] == "its values (min to max)"
    assert model.overrides == ()


def test_wide_bias_is_stored_at_the_accumulators_scale() -> None:
    wide = IntegerOverride(32, (Range(-1, 1, 1e-9, -2147483648),))
    model = quantized(Overrides({}, {"b": wide}))
    assert "b" not in model.parameters
    assert model.origins["b"] == "override"
    assert [o.outcome for o in model.overrides] == ["applied"]


def test_channels_of_a_weight() -> None:
    ranges = tuple(Range(-128 * d, 127 * d, d, -128) for d in (0.1, 0.2, 0.3))
    model = quantized(Overrides({}, {"w": IntegerOverride(8, ranges, symmetric=True)}))
    encoding = model.parameters["w"]
    assert isinstance(encoding, AxisEncoding)
    np.testing.assert_allclose(encoding.deltas, [0.1, 0.2, 0.3])


@pytest.mark.parametrize("key", ["p", "f"])
def test_a_given_output_of_a_mover_reaches_back_to_who_computes(key: str) -> None:
    model = quantized(Overrides({key: given(0, 1)}))
    assert model.activations["c"] == model.activations["p"] == model.activations["f"] == ONE
    assert model.overrides[0].outcome == "applied"


def test_a_mover_keeps_an_input_that_others_read_or_that_is_given() -> None:
    result = outcome(Overrides({"p": given(0, 1)}), branch=True)
    assert result.outcome == "ignored"
    assert result.reason == "layer 'pool' (pooling) keeps the encoding of its input 'c'"
    model = quantized(Overrides({"c": given(0, 2), "p": given(0, 1)}))
    assert model.activations["p"] == TWO
    assert [o.outcome for o in model.overrides] == ["applied", "ignored"]
    agreeing = quantized(Overrides({"c": given(0, 2), "p": given(0, 2)}))
    assert [o.outcome for o in agreeing.overrides] == ["applied", "applied"]


@pytest.mark.parametrize(
    ("key", "override", "reason"),
    [
        ("conv_raw", given(0, 1), "tensor was absorbed into layer 'conv', which writes 'c'"),
        ("dead", given(0, 1), "removed at conversion; no layer computes it any more"),
        ("w", given(0, 1), "it is a parameter; give it in the section of parameters"),
        ("conv_raw", FloatOverride(16), "tensor was absorbed into layer 'conv', which writes 'c'"),
    ],
)
def test_ignored_with_the_reason(key: str, override: Override, reason: str) -> None:
    absorbed = {"conv_raw": "conv", "dead": ""}
    result = outcome(Overrides({key: override}, absorbed=absorbed))
    assert (result.outcome, result.reason) == ("ignored", reason)


def test_parameters_that_stay_float_and_activations_among_them() -> None:
    result = outcome(Overrides({}, {"s": given(0, 1)}), branch=True)
    assert result.outcome == "ignored"
    assert result.reason == "layer 'bn' (batchnorm) keeps its parameters as they are"
    result = outcome(Overrides({}, {"c": given(0, 1)}))
    assert result.reason == "it is an activation; give it in the section of activations"


@pytest.mark.parametrize("source", ["override", "QDQ node"])
@pytest.mark.parametrize(
    "ranges",
    [
        (),
        (Range(scale=1e-319, offset=-3),),
        (Range(scale=-0.1, offset=-3),),
        (Range(scale=1e-40, offset=0, min=0.0, max=1.0),),
        (Range(-1e-320, 1e-320),),
        (Range(-3e38, 3.5e38),),
        (Range(scale=3e38, offset=0),),
    ],
)
@pytest.mark.parametrize("bits", [8, 16])
def test_numbers_that_make_no_encoding(
    ranges: tuple[Range, ...], source: OverrideSource, bits: int
) -> None:
    """Those of the user are refused, those of nodes ignored; both with the number."""
    overrides = Overrides({"c": IntegerOverride(bits, ranges, source=source)})
    if source == "override":
        with pytest.raises(HexsimError, match=r"^override 'c': .*; give another, or none$"):
            settle(overrides, network(), OPTIONS)
    else:
        settled = settle(overrides, network(), OPTIONS)
        assert [outcome.outcome for outcome in settled.outcomes] == ["ignored"]
        assert not settled.encodings


def test_unmatched_with_the_nearest_name() -> None:
    result = outcome(Overrides({"x": given(0, 1), "cc": given(0, 1)}))
    assert (result.outcome, result.reason) == ("unmatched", "no such tensor; the nearest is 'c'")
    result = outcome(Overrides({"x": given(0, 1)}, {"conv": given(0, 1)}))
    assert (result.outcome, result.reason) == ("unmatched", "that is a layer; it writes 'c'")


def test_a_layer_stands_for_its_output() -> None:
    overrides = Overrides({"conv": given(0, 1)})
    result = outcome(overrides)
    said = "that is a layer, not a tensor; its output 'c' is meant"
    assert (result.outcome, result.reason) == ("applied", said)
    assert (
        quantized(overrides).activations["c"]
        == quantized(Overrides({"c": given(0, 1)})).activations["c"]
    )
    result = outcome(Overrides({"conv": FloatOverride(16)}))
    assert result.reason == f"{said}; layer 'conv' is float16"


def test_a_range_that_cuts_off_weights_says_how_many() -> None:
    result = outcome(Overrides({}, {"w": given(-1, 1)}))
    assert result.outcome == "applied"
    assert result.reason.startswith("33.33% of its values lie outside [-1.00")
    ranges = tuple(Range(-128 * d, 127 * d, d, -128) for d in (0.1, 0.2, 0.001))
    result = outcome(Overrides({}, {"w": IntegerOverride(8, ranges, symmetric=True)}))
    assert result.reason.startswith("16.67% of its values")


def test_overrides_of_another_network() -> None:
    with pytest.raises(HexsimError) as error:
        quantized(Overrides({"other": given(0, 1)}, {"v": given(0, 1)}))
    assert str(error.value).startswith(
        "none of the 2 overrides names a tensor of network 'small'; they seem to be for another"
    )
    assert outcome(Overrides({"gone": given(0, 1)}, absorbed={"gone": "conv"})).key == "gone"


def test_two_keys_for_one_tensor() -> None:
    """A tensor's own name is looked at before one that it had, whatever their order."""
    renamed = {"old": "c"}
    result = settle(
        Overrides({"old": given(0, 2), "c": given(0, 1)}, renamed=renamed), network(), OPTIONS
    )
    assert result.encodings["c"].encoding == ONE
    assert [(o.key, o.outcome) for o in result.outcomes] == [("c", "applied"), ("old", "ignored")]
    assert result.outcomes[1].reason == "'c' is given otherwise by 'c'"
    agreeing = outcome(Overrides({"c": given(0, 1), "old": given(0, 1)}, renamed=renamed))
    assert (agreeing.key, agreeing.outcome) == ("old", "applied")
    alone = settle(Overrides({"old": given(0, 2)}, renamed=renamed), network(), OPTIONS)
    assert alone.encodings["c"].encoding == TWO


def test_a_file_of_the_user_is_looked_at_before_nodes() -> None:
    node = IntegerOverride(8, (Range(0, 2),), source="QDQ node")
    overrides = Overrides({"c": node, "old": given(0, 1)}, renamed={"old": "c"})
    settled = settle(overrides, network(), OPTIONS)
    assert settled.encodings["c"].encoding == ONE
    assert settled.encodings["c"].source == "override"


def test_a_weight_that_layers_shared_stands_for_every_copy() -> None:
    net = network()
    conv = net.layers[0].replace(weight="conv.w")
    weight = net.constants["w"].derive((1, 1, 2, 3), lambda a: a, "conv.w")
    copied = net.with_layers((conv, *net.layers[1:]), constants=[weight])
    settled = settle(Overrides({}, {"w": given(-3, 3)}), copied, OPTIONS)
    assert set(settled.encodings) == {"conv.w"}


def chain(*layers: Layer, others: tuple[str, ...] = ()) -> Network:
    """x -> layers in turn, each writing a tensor of its name; the last and `others` are outputs."""
    tensors = {name: Tensor(name, (1, 4, 4, 2)) for name in ("x", *(la.output for la in layers))}
    shaped = dict(tensors)
    for layer in layers:
        (shape,) = layer.output_shapes([shaped[name].shape for name in layer.inputs])
        shaped[layer.output] = Tensor(layer.output, shape)
    return Network("chain", layers, shaped, {}, ("x",), (*others, layers[-1].output))


def neuron(source: str, name: str, function: NeuronFunction = "tanh") -> Neuron:
    return Neuron(name=name, inputs=(source,), outputs=(name,), function=function)


def test_a_given_shape_of_a_tensor_is_that_of_its_values() -> None:
    """Unlike a maximum, a reshape has the values of its input, whoever else reads that."""
    flat = Reshape(name="f", inputs=("a",), outputs=("f",), shape=(1, 32))
    net = chain(neuron("x", "a"), flat, neuron("a", "b"), others=("f",))
    settled = settle(Overrides({"f": given(0, 1)}), net, OPTIONS)
    assert settled.encodings["a"].encoding == settled.encodings["f"].encoding == ONE
    assert [result.outcome for result in settled.outcomes] == ["applied"]


def test_all_keys_of_a_tensor_that_keeps_another_encoding_are_ignored() -> None:
    flat = Reshape(name="f", inputs=("a",), outputs=("f",), shape=(1, 32))
    overrides = Overrides(
        {"a": given(0, 2), "f": given(0, 1), "old": given(0, 1)}, renamed={"old": "f"}
    )
    outcomes = settle(overrides, chain(neuron("x", "a"), flat), OPTIONS).outcomes
    assert [result.outcome for result in outcomes] == ["applied", "ignored", "ignored"]
    assert outcomes[1].reason == outcomes[2].reason


def test_what_is_clamped_saturates_where_the_clamp_does() -> None:
    clamp = neuron("a", "r", "clamp").replace(clamp=RELU)
    net = chain(neuron("x", "a"), clamp, neuron("r", "y"))
    assert settle(Overrides({"r": given(0, 1)}), net, OPTIONS).encodings["a"].encoding == ONE
    read_twice = chain(neuron("x", "a"), clamp, neuron("a", "y"), others=("r",))
    assert "a" not in settle(Overrides({"r": given(0, 1)}), read_twice, OPTIONS).encodings


def test_parts_of_one_encoding_are_joined_in_it() -> None:
    joined = Concat(name="j", inputs=("a", "b"), outputs=("j",), axis=3)
    net = chain(neuron("x", "a"), neuron("x", "b"), joined)
    both = Overrides({"a": given(0, 1), "b": given(0, 1)})
    assert settle(both, net, OPTIONS).encodings["j"].encoding == ONE
    for others in ({"a": given(0, 1)}, {"a": given(0, 1), "b": given(0, 2)}):
        assert "j" not in settle(Overrides(others), net, OPTIONS).encodings


def test_tensors_inside_an_operator_have_its_width_and_are_named() -> None:
    net = chain(neuron("x", "a"), neuron("a", "b"), neuron("b", "y"))
    overrides = Overrides({"y": given(0, 1, bits=16)}, inside={"a": "y", "b": "y"})
    settled = settle(overrides, net, OPTIONS)
    assert settled.encodings["a"].encoding == settled.encodings["b"].encoding == Unranged(16)
    (result,) = settled.outcomes
    assert result.outcome == "applied"
    assert result.reason == "its operator is several layers here; 'a', 'b' inside are calibrated"
    nothing_to_change = settle(Overrides({"y": given(0, 1)}, inside={"a": "y"}), net, OPTIONS)
    assert set(nothing_to_change.encodings) == {"y"}


def test_a_constant_is_as_wide_as_what_is_computed_with_it() -> None:
    settled = settle(Overrides({"y": given(0, 1, bits=16)}), network(), OPTIONS)
    assert settled.encodings["k"].encoding == Unranged(16)
    own = settle(Overrides({"y": given(0, 1, bits=16), "k": given(0, 3)}), network(), OPTIONS)
    assert own.encodings["k"].encoding == Encoding.from_range(0, 3)


def test_a_weight_that_was_multiplied_is_coded_as_before() -> None:
    overrides = Overrides({}, {"w": given(-1, 1.5)}, folded={"w": (-2.0,)})
    encoding = settle(overrides, network(), OPTIONS).encodings["w"].encoding
    assert isinstance(encoding, Encoding)
    assert encoding.fault() is None
    assert (encoding.min, encoding.max) == pytest.approx((-3, 2), abs=0.02)


def test_both_weights_of_a_recurrent_layer_are_given() -> None:
    layer = Recurrent(
        name="r", inputs=("x",), outputs=("y",), cell="rnn", hidden=2, weight="w", recurrence="u",
        bias="b",
    )  # fmt: skip
    arrays = {"w": np.ones((3, 2)), "u": np.ones((2, 2)), "b": np.ones((2, 2))}
    constants = {n: Constant(n, a.shape, a.astype(np.float32)) for n, a in arrays.items()}
    tensors = {"x": Tensor("x", (4, 1, 3)), "y": Tensor("y", (4, 1, 1, 2))}
    net = Network("net", (layer,), tensors, constants, ("x",), ("y",))
    settled = settle(Overrides({}, dict.fromkeys("wub", given(0, 1))), net, OPTIONS)
    assert {name: g.encoding for name, g in settled.encodings.items()} == {"w": ONE, "u": ONE}
    assert {o.key: o.outcome for o in settled.outcomes}["b"] == "ignored"
    floats = settle(Overrides({}, {"w": FloatOverride(16)}), net, OPTIONS)
    assert [o.outcome for o in floats.outcomes] == ["ignored"]
