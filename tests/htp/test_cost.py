"""What a call asks of HMX, HVX and DMA.

Which operands of a concatenation keep their own encoding, and what that costs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hexsim.datasheets import chips, stacks
from hexsim.htp.compiler import HtpOperation
from hexsim.htp.cost import cost_of
from hexsim.htp.machine import HtpMachine
from hexsim.layers import Convolution
from tests.tensor_graphs import Calls, calls_of, convolution, in_floats


def test_a_dense_convolution_is_tiles_with_padding(tmp_path: Path) -> None:
    """20 inputs count as 24 (in floats 32), 40 outputs as 64, 10 x 10 pixels as 16 x 16."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 20, 10, 40)
    cost = cost_of(call, network)
    assert cost.hmx_macs == 256 * 64 * 9 * 24
    assert cost.weight_bytes == 9 * 64 * 32
    (floats,) = in_floats((call,))
    assert cost_of(floats, network).hmx_macs == 16 * 12 * 64 * 9 * 32
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 3, 10, 40)
    cost = cost_of(call, network)
    assert (cost.hmx_macs, cost.weight_bytes) == (256 * 64 * 9 * 8, 9 * 64 * 32)


def test_groups_share_a_tile(tmp_path: Path) -> None:
    """Of 128 channels in 32 groups each tile of 32 outputs reads 32 inputs; all are regrouped."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 128, 8, 128, groups=32)
    cost = cost_of(call, network)
    assert cost.hmx_macs == 64 * 128 * 9 * 32
    assert cost.regrouped_vectors == 2 * 64 * 128 / 128


def test_groups_that_do_not_fill_tiles_have_their_own(tmp_path: Path) -> None:
    """Two groups of 48 channels are two tiles of 64 x 64."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 96, 8, 96, groups=2)
    cost = cost_of(call, network)
    assert cost.hmx_macs == 64 * 9 * 2 * 64 * 64
    assert cost.weight_bytes == 9 * 2 * 64 * 64


def test_a_depthwise_convolution_is_none_of_hmx(tmp_path: Path) -> None:
    """A vector in another order for 128 codes of the result, beside the input's conversion."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 32, 8, 32, groups=32)
    cost = cost_of(call, network)
    assert cost.hmx_macs == 0
    assert (cost.regrouped_vectors, cost.vectors) == (2048 / 128, 4 * 2048 / 128)


def test_only_many_taps_make_a_depthwise_convolution_longer(tmp_path: Path) -> None:
    """From 9 to 14 they do not; then each takes as long as the last.

    Floats without IEEE take two instructions for each tap, but 1.26 times as long for the order.
    """
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 32, 8, 32, groups=32)
    assert isinstance(call.layer, Convolution)
    clocks: dict[str, list[float]] = {"qcs8550": [], "sd8gen1": []}
    for kernel in ((3, 3), (2, 7), (7, 7)):
        layer = replace(call.layer, window=replace(call.layer.window, kernel=kernel))
        (floats,) = in_floats((replace(call, layer=layer),))
        cost = replace(cost_of(floats, network), vectors=0.0)
        for chip, of_chip in clocks.items():
            machine = HtpMachine.of(chips.load(chip), stacks.load("qnn-2.43"))
            _, hvx_s, _ = machine.parts_s(HtpOperation(floats, cost, 0))
            of_chip.append(hvx_s / machine.vector_s["regrouped_vectors"] / cost.regrouped_vectors)
    assert clocks["qcs8550"] == pytest.approx([1, 1, 49 / 14])
    assert clocks["sd8gen1"] == pytest.approx([2 * 9 / 14, 2, 7])


def test_a_depthwise_convolution_of_few_channels_is_slow(tmp_path: Path) -> None:
    """As slow as an elementwise operation on such an image, whose channels are padded to 32."""
    network, (call,) = convolution(str(tmp_path / "m.onnx"), 3, 8, 3, groups=3)
    cost = cost_of(call, network)
    assert (cost.regrouped_vectors, cost.broadcast_vectors) == (0, 8 * 8 * 32 / 128)


def test_a_shuffle_of_channels_brings_each_vector_into_order(tmp_path: Path) -> None:
    """A reshape, a transposition and a reshape are one shuffle."""
    path = str(tmp_path / "m.onnx")
    shapes = {"s": [1, 2, 32, 8, 8], "t": [1, 64, 8, 8]}
    nodes = [
        helper.make_node("Reshape", ["x", "s"], ["a"]),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 2, 1, 3, 4]),
        helper.make_node("Reshape", ["b", "t"], ["y"], "y"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, 8, 8]) for name in "xy")
    constants = [numpy_helper.from_array(np.array(shape), name) for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    network, (call,) = calls_of(path)
    assert cost_of(call, network).regrouped_vectors == 64 * 64 / 128


def test_floats_take_twice_the_bytes(tmp_path: Path) -> None:
    """Of weights as of activations."""
    network, calls = convolution(str(tmp_path / "m.onnx"), 32, 8, 32)
    (codes,), (floats,) = (
        [cost_of(c, network) for c in some] for some in (calls, in_floats(calls))
    )
    assert floats.weight_bytes == 2 * codes.weight_bytes
    assert floats.port_bytes == 2 * codes.port_bytes


@pytest.mark.parametrize(
    ("operand", "repeats"),
    [
        ([1, 64, 1, 1], True),
        ([1], False),
        ([1, 1, 8, 8], True),
        ([1, 64, 8, 1], True),
        ([1, 64, 1, 8], False),
        ([1, 64, 8, 8], False),
    ],
)
def test_an_operand_that_repeats_is_slow(tmp_path: Path, operand: list[int], repeats: bool) -> None:
    """Along columns or channels, the last two axes; one per row is the same for each row."""
    path = str(tmp_path / "m.onnx")
    node = helper.make_node("Mul", ["x", "c"], ["y"], "mul")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, 8, 8]) for name in "xy")
    values = numpy_helper.from_array(
        np.linspace(1, 2, np.prod(operand), dtype="f").reshape(operand), "c"
    )
    graph = helper.make_graph([node], "g", [x], [y], [values])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    network, (call,) = calls_of(path)
    edge = 4 * 64 * 64 / 128
    cost = cost_of(call, network)
    assert (cost.broadcast_vectors, cost.vectors) == ((32, edge) if repeats else (0, 32 + edge))


@pytest.mark.parametrize("channels", [3, 32])
def test_a_scalar_is_a_table_in_8_bits_alone(tmp_path: Path, channels: int) -> None:
    """8 x 8 pixels of 32 channels, 3 of them padded: 16 vectors of codes, 32 of 16 bits."""
    path = str(tmp_path / "m.onnx")
    shape = [1, channels, 8, 8]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    factor = numpy_helper.from_array(np.array(0.5, np.float32), "c")
    graph = helper.make_graph([helper.make_node("Mul", "xc", ["y"])], "g", [x], [y], [factor])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    network, (codes,) = calls_of(path)
    (floats,) = in_floats((codes,))
    edge = 4 * channels * 64 / 128
    for call, slow, quick in (
        (codes, 0, 16 + edge),
        (replace(codes, activation_bits=16), 32, 2 * edge),
        (floats, 32, 2 * edge),
    ):
        cost = cost_of(call, network)
        assert (cost.broadcast_vectors, cost.vectors) == (slow, quick)


def test_a_normalisation_of_codes_is_a_slow_operation_and_two_more(tmp_path: Path) -> None:
    """A factor and a summand per channel; in floats it is a single operation."""
    path = str(tmp_path / "m.onnx")
    node = helper.make_node("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"], "norm")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, 8, 8]) for name in "xy")
    ones = np.linspace(1, 2, 64, dtype="f")
    constants = [numpy_helper.from_array(ones, name) for name in "gbmv"]
    graph = helper.make_graph([node], "g", [x], [y], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    network, calls = calls_of(path)
    ((codes,), (floats,)) = (
        [cost_of(c, network) for c in some] for some in (calls, in_floats(calls))
    )
    assert (codes.operators, codes.broadcast_vectors, codes.vectors) == (3, 32, 64 + 128)
    assert (floats.operators, floats.broadcast_vectors) == (1, 0)


def test_a_factor_on_a_product_of_tensors_is_an_operation_of_floats(tmp_path: Path) -> None:
    """64 x 64 half floats are 64 slow vectors; codes have another scale instead."""
    shape = [1, 2, 64, 64]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("a", "b", "y")]
    nodes = [
        helper.make_node("MatMul", ["a", "b"], ["c"], name="c"),
        helper.make_node("Mul", ["c", "s"], ["y"], name="y"),
    ]
    scale = numpy_helper.from_array(np.array(0.125, np.float32), "s")
    graph = helper.make_graph(nodes, "g", ends[:2], ends[2:], [scale])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    network, calls = calls_of(str(tmp_path / "m.onnx"))
    (product,) = [call for call in calls if call.layer.type == "matmul"]
    (in_float,) = in_floats((product,))
    codes, floats = cost_of(product, network), cost_of(in_float, network)
    assert (codes.operators, codes.broadcast_vectors) == (1, 0)
    assert (floats.operators, floats.broadcast_vectors) == (2, 2 * 64 * 64 * 2 / 128)


@pytest.mark.parametrize("shape", [[96, 64], [1, 96, 64], [1, 2, 96, 64]])
def test_a_matrix_meets_the_same_operand_in_all_rows(tmp_path: Path, shape: list[int]) -> None:
    """It takes less than an image would, whatever the axes; 96 rows are 128."""
    second = [*shape[:-2], 64, 64]
    nodes = [
        helper.make_node("MatMul", ["a", "b"], ["c"], name="c"),
        helper.make_node("Add", ["c", "s"], ["y"], name="y"),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, of)
        for name, of in (("a", shape), ("b", second), ("y", shape))
    ]
    summand = numpy_helper.from_array(np.linspace(1, 2, 64, dtype="f"), "s")
    graph = helper.make_graph(nodes, "g", ends[:2], ends[2:], [summand])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    network, calls = calls_of(str(tmp_path / "m.onnx"))
    (added,) = [call for call in calls if call.layer.type == "elementwise_binary_op"]
    matrices = int(np.prod(shape[:-2]))
    cost = cost_of(added, network)
    assert (cost.row_vectors, cost.broadcast_vectors) == (matrices * 128 * 64 / 128, 0)


def _two_convolutions(path: str, *, read_twice: bool) -> Calls:
    """Two convolutions joined; the first is also read by a Relu if `read_twice`."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "a"),
        helper.make_node("Conv", ["x", "w"], ["b"], "b"),
        helper.make_node("Concat", ["a", "b"], ["y"], "join", axis=1),
    ]
    outputs = ["y"]
    if read_twice:
        nodes.append(helper.make_node("Sigmoid", ["a"], ["z"], "other"))
        outputs.append("z")
    values = [0.5 + 0.125 * (at % 3) for at in range(32 * 32)]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [32, 32, 1, 1], values)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32, 8, 8])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "g", [x], ends, [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return calls_of(path)


def test_results_that_nothing_else_reads_are_only_moved(tmp_path: Path) -> None:
    """Each operand is 8 x 8 x 32 codes, 16 vectors; half a vector is counted for each."""
    network, calls = _two_convolutions(str(tmp_path / "m.onnx"), read_twice=False)
    (join,) = [call for call in calls if call.layer.name == "join"]
    assert cost_of(join, network).vectors == 0.5 * 32
    assert cost_of(join, network).operators == 1


def test_an_operand_with_two_readers_is_requantised(tmp_path: Path) -> None:
    """In codes it is an operation of its own; in floats it is moved."""
    network, calls = _two_convolutions(str(tmp_path / "m.onnx"), read_twice=True)
    (join,) = [call for call in calls if call.layer.name == "join"]
    assert cost_of(join, network).vectors == 16 + 0.5 * 16
    assert cost_of(join, network).operators == 2
    (in_float,) = in_floats((join,))
    assert cost_of(in_float, network).operators == 1
