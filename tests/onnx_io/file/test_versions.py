"""Versions of files: those that are read, and the lowest that means the same."""

import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.source import open_source
from hexsim.onnx_io.file.versions import lowest_opset
from hexsim.onnx_io.read.reader import read
from hexsim.onnx_io.run.float_engine import FloatEngine
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
