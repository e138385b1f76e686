"""Layers are listed with the ids, letters and words of snpe-dlc-info."""

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import (
    RELU,
    Clamp,
    Convolution,
    Elementwise,
    Neuron,
    Opaque,
    Window,
)
from hexsim.quantization.model import Model
from hexsim.results.info import LETTERS, InfoLayer
from hexsim.studies.inspection import constants_by_role, inspect
from tests.dlc.made import small_network, with_encodings
from tests.small_networks import Sketch


def _only(layer_type: type[Layer], **attributes: object) -> InfoLayer:
    net = Sketch((1, 6, 6, 4))
    return inspect(
        Model(net.network(net.add(layer_type, "in", **attributes))), tuple(LETTERS.values())
    )[1]


def test_inputs_come_first_and_count_as_layers() -> None:
    rows = inspect(Model(small_network()))
    assert [(row.id, row.type) for row in rows] == [
        (0, "data"),
        (1, "convolutional"),
        (2, "convolutional"),
        (3, "pooling"),
        (4, "fully_connected"),
    ]
    assert rows[0].attributes == {"input_preprocessing": "passthrough"}


def test_a_convolution_in_words() -> None:
    net = Sketch((1, 9, 9, 4))
    window = Window((3, 2), (2, 1), (1, 0, 1, 1), (1, 2))
    weight = net.weight((3, 2, 2, 8))
    attributes = {"weight": weight, "window": window, "groups": 2, "clamp": Clamp(0, 6)}
    output = net.add(Convolution, "in", output_channels=8, fused=("r",), **attributes)
    row = inspect(Model(net.network(output)))[1]
    assert row.attributes == {
        "padding x": "0 before, 1 after",
        "padding y": "1",
        "padding mode": "zero",
        "stride x": "1",
        "stride y": "2",
        "kernel": "3x2",
        "dilation": "1x2",
        "groups": "2",
        "clamp": "0 to 6",
        "num filters": "8",
        "fused": "r",
    }
    assert row.param_count == 96
    assert row.macs == 5 * 8 * row.param_count


def test_attributes_at_their_defaults_are_left_out() -> None:
    assert _only(Neuron, function="tanh").attributes == {"function": "tanh"}


def test_kinds_sum_up_types() -> None:
    assert _only(Neuron, function="tanh").kind == "neuron_tanh"
    assert _only(Neuron, function="clamp", clamp=RELU).kind == "neuron_relu"
    assert _only(Neuron, function="clamp", clamp=Clamp(0, 6)).kind == "neuron_relu_min_max"
    assert _only(Elementwise, kind="sum").kind == "elementwise_binary_op_sum"
    opaque = _only(Opaque, op_type="Erf", node=b"", shapes=((1, 6, 6, 4),))
    assert opaque.kind == "opaque_Erf"
    assert "node" not in opaque.attributes


def test_letters_follow_the_support_rules() -> None:
    assert _only(Neuron, function="tanh").snpe_letters == "ADGCH"
    assert _only(Neuron, function="hard_sigmoid").snpe_letters == "ADGCH"
    assert _only(Neuron, function="elu").snpe_letters == "GC"
    assert _only(Opaque, op_type="Erf", node=b"", shapes=((1, 6, 6, 4),)).snpe_letters == "C"


def test_encodings_by_role() -> None:
    rows = inspect(with_encodings(small_network()))
    assert list(rows[0].encodings) == ["output"]
    assert list(rows[1].encodings) == ["output", "weight"]
    assert list(rows[2].encodings) == ["output"], "this layer's weights are kept as floats"


def test_constants_by_role_are_fields_then_operands() -> None:
    network = small_network()
    layer = network.layers[0].replace(name=network.layers[0].parameters[0])
    assert constants_by_role(layer, network) == {"weight": layer.parameters[0]}
    add = Elementwise(name="a", inputs=("c", "x", "d"), outputs=("y",), kind="sum")
    constants = {name: Constant(name, (1,), lambda: None) for name in "cd"}  # type: ignore[arg-type, return-value]
    tensors = {name: Tensor(name, (1,)) for name in "xy"}
    network = Network("n", (add,), tensors, constants, ("x",), ("y",))
    assert constants_by_role(add, network) == {"operand": "c", "operand 1": "d"}
