"""Versions of files: those that are read, and the lowest that means the same.

Opsets before 7: converted, with explicit broadcast axes aligned as they were meant.
"""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.source import open_source
from hexsim.onnx_io.file.versions import lowest_opset
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.onnx_io.write.writer import write
from tests.fuzz.onnx_seeds import model

node = helper.make_node


@pytest.mark.parametrize("ir", [-1, 9999, 2**62])
def test_ir_versions_that_are_none_are_refused(ir: int) -> None:
    made = model([node("Relu", ["x"], ["y"])], {})
    made.ir_version = ir
    with pytest.raises(HexsimError, match=f"IR version {ir}, the installed onnx knows 1 to"):
        open_source(made)


def test_a_file_without_an_opset_is_refused() -> None:
    made = model([node("Relu", ["x"], ["y"])], {})
    del made.opset_import[:]
    with pytest.raises(HexsimError, match="does not say which opset"):
        open_source(made)


def test_the_lowest_opset_is_the_first_of_the_operator() -> None:
    newest = onnx.defs.onnx_opset_version()
    assert lowest_opset(node("Atan", ["x"], ["y"]), 21) == 7
    assert lowest_opset(node("Gelu", ["x"], ["y"]), newest) == 20
    assert lowest_opset(node("Wave", ["x"], ["y"], domain="own"), 3) == 3


def test_the_newest_file_runs_where_its_nodes_are_older() -> None:
    """onnxruntime learns of new versions later than onnx."""
    nodes = [node("Trilu", ["x"], ["y"])]
    made = model(nodes, {}, opset=onnx.defs.onnx_opset_version())
    made.ir_version = onnx.IR_VERSION
    network = read(made)
    written = write(network).model
    assert [opset.version for opset in written.opset_import] == [17]
    assert written.ir_version <= 8
    FloatEngine(network)


def test_nodes_of_branches_count_too() -> None:
    out = helper.make_tensor_value_info("o", 1, [2, 3])
    branch = helper.make_graph([node("Gelu", ["x"], ["o"])], "b", [], [out])
    choice = node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    assert lowest_opset(choice, 20) == 20
    assert lowest_opset(choice.__class__(op_type="If"), 20) == 19


Make = Callable[..., onnx.ModelProto]


def _old(make: Make, nodes: list[onnx.NodeProto], constant: np.ndarray) -> onnx.ModelProto:
    model = make(nodes, {"x": (2, 3, 4, 5)}, ["y"], {"b": constant}, opset=6)
    shape = list(constant.shape)  # initialisers had to be inputs then
    model.graph.input.append(helper.make_tensor_value_info("b", onnx.TensorProto.FLOAT, shape))
    return model


@pytest.mark.parametrize(
    ("shape", "axis", "aligned"),
    [
        ((3,), 1, (3, 1, 1)),
        ((3, 4), 1, (3, 4, 1)),
        ((4, 5), 2, (4, 5)),
        ((5,), None, (5,)),
        ((5,), -1, (5,)),
    ],
)
def test_broadcasts_mean_what_they_meant(
    shape: tuple[int, ...], axis: int | None, aligned: tuple[int, ...], onnx_model: Make
) -> None:
    rng = np.random.default_rng(3)
    constant = rng.standard_normal(shape).astype(np.float32)
    where = {} if axis is None else {"axis": axis}
    nodes = [
        helper.make_node("Add", ["x", "b"], ["z"], broadcast=1, **where),
        helper.make_node("Mul", ["z", "b"], ["y"], broadcast=1, **where),
    ]
    network = read(_old(onnx_model, nodes, constant))
    network.check()
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    stored = {"x": network.tensors["x"].from_source(x)}
    y = network.tensors["y"].to_source(FloatEngine(network).run(stored)["y"])  # type: ignore[arg-type]
    b = constant.reshape(aligned)
    np.testing.assert_allclose(y, (x + b) * b, rtol=1e-6, atol=1e-6)


def test_what_cannot_be_converted_is_refused(onnx_model: Make) -> None:
    nodes = [
        helper.make_node("Mystery", ["x"], ["m"], domain="own"),
        helper.make_node("Add", ["m", "x"], ["y"], broadcast=1, axis=1),
    ]
    model = onnx_model(nodes, {"x": (1, 3)}, ["y"], opset=6)
    model.opset_import.append(helper.make_opsetid("own", 1))
    with pytest.raises(HexsimError, match=r"cannot be converted \(the shapes that Add"):
        read(model)
