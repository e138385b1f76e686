"""Converts models of opsets before 7 to opset 7.

The converter of the onnx package does most of the work, but it aligns a broadcast operand wrongly
if the node has the old attribute `axis` (onnx 1.23). So these operands first get their trailing
axes here.
"""

import onnx
import onnx.shape_inference
import onnx.version_converter

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.crash_proof import crash_proof, is_plain_model
from hexsim.onnx_io.file.node import OnnxNode, standard_domain
from hexsim.onnx_io.file.node_check import check

OLDEST_OPSET = 7
"""Operators broadcast as numpy does from opset 7 on."""


class _UnknownShapesError(Exception):
    """A broadcast operand cannot be aligned."""


def to_oldest_opset(model: onnx.ModelProto, label: str) -> onnx.ModelProto:
    """Return `model` in opset 7; HexsimError, naming it by `label`, if it cannot be converted."""
    _require_valid_nodes(model)
    try:
        return crash_proof(_converted, plain=is_plain_model(model))(model)
    except _UnknownShapesError as error:
        reason = str(error)
    except Exception:  # the exceptions of the converter have no common base class
        reason = "onnx has no conversion for its nodes"
    raise HexsimError(
        f"{label} uses an opset before {OLDEST_OPSET} and cannot be converted ({reason}); "
        "export it again with a newer opset"
    )


def _require_valid_nodes(model: onnx.ModelProto) -> None:
    opset = next((o.version for o in model.opset_import if not standard_domain(o.domain)), 1)
    for node in model.graph.node:
        if not standard_domain(node.domain):
            check(OnnxNode(node, node.name or next(iter(node.output), ""), opset))


def _converted(model: onnx.ModelProto) -> onnx.ModelProto:
    aligned = onnx.ModelProto()
    aligned.CopyFrom(model)
    _align_broadcasts(aligned)
    return onnx.version_converter.convert_version(aligned, OLDEST_OPSET)


def _align_broadcasts(model: onnx.ModelProto) -> None:
    """Put an Unsqueeze in front of every operand that is broadcast along an explicit axis."""
    ranks = _ranks(model)
    nodes = []
    for node in model.graph.node:
        attributes = {attribute.name: attribute for attribute in node.attribute}
        if "broadcast" in attributes and "axis" in attributes:
            left, right = node.input
            if left not in ranks or right not in ranks:
                raise _UnknownShapesError(
                    f"the shapes that {node.op_type} '{node.name}' joins are unknown"
                )
            axis = attributes["axis"].i % ranks[left]
            axes = list(range(ranks[right], ranks[left] - axis))
            if axes:
                node.input[1] = f"{node.output[0]}.operand"
                nodes.append(
                    onnx.helper.make_node("Unsqueeze", [right], [node.input[1]], axes=axes)
                )
            node.attribute.remove(attributes["axis"])
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _ranks(model: onnx.ModelProto) -> dict[str, int]:
    graph = onnx.shape_inference.infer_shapes(model).graph
    ranks = {
        value.name: len(value.type.tensor_type.shape.dim)
        for value in (*graph.input, *graph.value_info)
        if value.type.tensor_type.HasField("shape")
    }
    return {**ranks, **{tensor.name: len(tensor.dims) for tensor in graph.initializer}}
