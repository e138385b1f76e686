"""Convert layers stand exactly where an operand's width differs from its layer's."""

import numpy as np
import pytest

from hexsim.layers import Concat, Convert, Elementwise, Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.conversions import with_conversions
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from tests.dlc.made import with_weights
from tests.small_networks import Sketch


def _branches(wide):
    """in -> a -> (b, c) -> sum -> concat with a; tensors in `wide` have 16 bits."""
    net = Sketch((1, 4, 4, 3))
    a = net.conv("in", 4)
    b, c = net.conv(a, 4), net.conv(a, 4, 3)
    total = net.add(Elementwise, b, c, kind="sum")
    joined = net.add(Concat, total, a, axis=3)
    names = dict(
        zip(["in", "a", "b", "c", "sum", "joined"], ["in", a, b, c, total, joined], strict=True)
    )
    network = with_weights(net.network(joined))
    encodings = {
        tensor: Encoding.from_range(-1 - k, 2.5 + k / 3, 16 if short in wide else 8)
        for k, (short, tensor) in enumerate(names.items())
    }
    return Model(network, encodings, {}, quantized=True), names


def _widths_agree(model):
    for layer in model.network.layers:
        if isinstance(layer, Convert):
            continue
        bits = {model.activations[n].bitwidth for n in (*layer.inputs, *layer.outputs)}
        assert len(bits) == 1, layer.name


@pytest.mark.parametrize("wide", [set(), {"in", "a", "b", "c", "sum", "joined"}])
def test_one_width_needs_no_conversion(wide):
    model, _ = _branches(wide)
    assert with_conversions(model) is model


@pytest.mark.parametrize(
    ("wide", "converted"),
    [
        ({"a"}, ["in", "a"]),  # a is read in 8 bits by both branches and by the concat: once
        ({"b"}, ["a", "b"]),
        ({"sum", "joined"}, ["b", "c", "a"]),
        ({"in"}, ["in"]),
        ({"c", "joined"}, ["a", "c", "sum"]),  # c and joined share the conversion of a
    ],
)
def test_conversions_stand_where_widths_change(wide, converted):
    model, names = _branches(wide)
    mixed = with_conversions(model)
    mixed.network.check()
    _widths_agree(mixed)
    layers = [layer for layer in mixed.network.layers if isinstance(layer, Convert)]
    assert [layer.inputs[0] for layer in layers] == [names[n] for n in converted]
    kept = [layer.name for layer in mixed.network.layers if not isinstance(layer, Convert)]
    assert kept == [layer.name for layer in model.network.layers]
    for layer in layers:
        old, new = (mixed.activations[n] for n in (layer.inputs[0], layer.output))
        assert {old.bitwidth, new.bitwidth} == {8, 16}
        assert abs(new.min - old.min) <= max(old.delta, new.delta)
        assert (new.max - new.min) == pytest.approx(old.max - old.min)


def test_from_8_to_16_bits_every_code_stays_exact():
    model, names = _branches({"b"})
    mixed = with_conversions(model)
    old = mixed.activations[names["a"]]
    new = mixed.activations[mixed.network.producers[names["b"]].inputs[0]]
    assert new.offset == 257 * old.offset
    codes = np.arange(256, dtype=np.uint8)
    assert np.array_equal(new.quantize(old.dequantize(codes)), 257 * codes.astype(np.uint16))


def test_it_is_done_once():
    mixed = with_conversions(_branches({"a"})[0])
    assert with_conversions(mixed) is mixed


def test_floats_do_not_change():
    model, _ = _branches({"a", "sum"})
    x = {"in": np.random.default_rng(1).standard_normal((1, 4, 4, 3), dtype=np.float32)}
    before = FloatEngine(model.network).run(x)
    after = FloatEngine(with_conversions(model).network).run(x)
    for name, value in before.items():
        assert np.array_equal(after[name], value)


def test_opaque_layers_read_every_width():
    net = Sketch((1, 4, 4, 3))
    last = net.add(Opaque, net.conv("in", 4), op_type="Erf", node=b"", shapes=((1, 4, 4, 4),))
    network = net.network(last)
    bits = {name: 16 if name == last else 8 for name in network.tensors}
    encodings = {name: Encoding.from_range(-1, 1, b) for name, b in bits.items()}
    model = Model(network, encodings, {}, quantized=True)
    assert with_conversions(model) is model


@pytest.mark.parametrize(
    ("floats", "converted"),
    [
        ({"b": 32}, [("a", "Float_32"), ("b", "uFxp_8")]),
        ({"a": 16}, [("in", "Float_16"), ("a", "uFxp_8")]),  # a is read in codes three times: once
        ({"b": 16, "sum": 32}, [("a", "Float_16"), ("b", "Float_32"), ("c", "Float_32"),
                                ("sum", "uFxp_8")]),
        ({"c": 16, "joined": 16}, [("a", "Float_16"), ("c", "uFxp_8"), ("sum", "Float_16")]),
    ],
)  # fmt: skip
def test_conversions_stand_where_floats_begin_and_end(floats, converted):
    model, names = _branches(set())
    ranges = model.activations
    kept = {n: e for n, e in ranges.items() if n not in {names[short] for short in floats}}
    bits = {names[short]: width for short, width in floats.items()}
    mixed = with_conversions(Model(model.network, kept, {}, floats=bits, quantized=True), ranges)
    mixed.network.check()
    layers = [layer for layer in mixed.network.layers if isinstance(layer, Convert)]
    conversions = [(layer.inputs[0], mixed.data_type(layer.output)) for layer in layers]
    assert conversions == [(names[short], kind) for short, kind in converted]
    for layer in mixed.network.layers:
        if not isinstance(layer, Convert):
            kinds = {mixed.data_type(n) for n in (*layer.inputs, *layer.outputs)}
            assert len(kinds) == 1, layer.name
    for layer in layers:
        if mixed.data_type(layer.output) == "uFxp_8":
            assert mixed.activations[layer.output] == ranges[layer.inputs[0]]
    assert with_conversions(mixed) is mixed
