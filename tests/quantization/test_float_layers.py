"""Fixed-point runtimes refuse float layers, and the Convert layers around them, in a sentence.

Convert layers stand exactly where an operand's width differs from its layer's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.layers import Concat, Convert, Elementwise, Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.planner import partition
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.float_layers import converts_floats, refusal_in, with_conversions
from hexsim.quantization.model import Model
from hexsim.runtimes import FIXED_POINT, RUNTIMES
from tests.deployed import deployed, planned
from tests.dlc.made import with_weights
from tests.mixed import chain, feeds, mixed
from tests.small_networks import Sketch


@pytest.mark.parametrize("bits", [16, 32])
def test_who_refuses_what(bits: int) -> None:
    model = mixed(bits)
    for runtime in RUNTIMES:
        reasons = {layer.name: refusal_in(model, layer, runtime) for layer in model.network.layers}
        refused = {name for name, reason in reasons.items() if reason}
        if runtime not in FIXED_POINT or (runtime, bits) == ("htp", 16):
            assert not refused
            continue
        converts = {f"conv1.y_convert_Float_{bits}", "conv2.y_convert_uFxp_8"}
        assert refused == {"conv2", *converts}
        sentence = f"it is float{bits} in this network, and {runtime} computes in integers"
        assert reasons["conv2"] == sentence + (" and float16" if runtime == "htp" else "")


def test_a_network_without_float_layers_has_no_such_rule() -> None:
    network = chain()
    assert not any(converts_floats(layer, Model(network)) for layer in network.layers)
    assert not any(refusal_in(Model(network), layer, "dsp") for layer in network.layers)


def test_the_cut_is_one_subnet_on_the_cpu() -> None:
    cuts = partition(mixed(), "dsp")
    assert [(cut.runtime, len(cut.layers)) for cut in cuts] == [("dsp", 1), ("cpu", 3), ("dsp", 2)]
    assert "float32" in cuts[1].reason


def test_without_fallback_the_network_is_refused() -> None:
    with pytest.raises(HexsimError, match=r"'conv1.y_convert_Float_32' \(convert\) cannot run on"):
        partition(mixed(), "dsp", cpu_fallback=False)


def test_the_plan_knows_widths_and_what_crosses_as_codes() -> None:
    model = mixed(16)
    plan = planned(model, "dsp")
    first, middle, last = plan.subnets
    assert first.as_codes == {"conv1.y"}
    assert last.as_codes == {"conv2.y_convert_uFxp_8"}
    assert middle.as_codes == frozenset()
    widths = [(c.input_bits, c.activation_bits, c.computes_float) for c in middle.calls]
    assert widths == [(8, 16, True), (16, 16, True), (16, 8, True)]
    assert middle.calls[1].weight_bits == 16
    assert plan.floats == {"conv2.w", "conv2.b"}


def test_on_the_cpu_everything_is_single_whatever_the_file_says() -> None:
    model = mixed(16)
    (only,) = planned(model, "cpu").subnets
    assert {(c.input_bits, c.activation_bits, c.computes_float) for c in only.calls} == {
        (32, 32, True)
    }


def test_what_the_application_reads_crosses_as_floats() -> None:
    """An output of the network is converted at the edge, even if a Convert layer reads it too."""
    model = mixed()
    seen = replace(model, network=replace(model.network, outputs=("conv3.y", "conv1.y")))
    plan = planned(seen, "dsp")
    assert plan.subnets[0].as_codes == frozenset()


def test_half_floats_run_in_the_graph_of_a_tensor_processor() -> None:
    """Values are those of the same layers on the CPU, and no time goes on ways there and back."""
    phone = Platform.load("sd8gen3")
    deployment = Deployment(mixed(16), phone, "htp")
    assert [(cut.engine, len(cut.layers)) for cut in deployment.subnets] == [
        ("htp", n) for n in (1, 3, 2)
    ]
    widths = [
        (c.input_bits, c.activation_bits, c.weight_bits) for c in deployment.plan.subnets[1].calls
    ]
    assert [pair[:2] for pair in widths] == [(8, 16), (16, 16), (16, 8)]
    assert widths[1][2] == 16
    on_cpu = deployed(mixed(16)).executor()
    for feed in feeds():
        for name, values in deployment.executor().run(feed).items():
            np.testing.assert_array_equal(values, on_cpu.run(feed)[name])
    ways = {"to_cpu", "from_cpu"}
    assert not ways & {part.name for part in deployment.simulate().overheads}
    of_singles = Deployment(mixed(32), phone, "htp").simulate()
    assert ways <= {part.name for part in of_singles.overheads}


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
