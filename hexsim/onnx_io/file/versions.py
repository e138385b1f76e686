"""Versions of ONNX files: which can be read, and which is written.

A file states the version of its format (IR) and of each operator set. Files are written with the
lowest versions that suffice, since other programs support new versions later than onnx. Models of
opsets before 7 are converted to it by the onnx package, which aligns a broadcast operand wrongly if
the node has the old attribute `axis` (onnx 1.23); so these get their trailing axes here first.
"""

import onnx
import onnx.shape_inference
import onnx.version_converter

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.crash_proof import crash_proof, is_plain_model
from hexsim.onnx_io.file.node import OnnxNode, check, standard_domain, subgraphs


def require_readable(model: onnx.ModelProto, label: str) -> None:
    """Raise HexsimError unless the installed onnx knows the versions of the file `label`."""
    newest = onnx.defs.onnx_opset_version()
    if not 1 <= model.ir_version <= onnx.IR_VERSION:
        raise HexsimError(
            f"{label} has IR version {model.ir_version}, the installed onnx knows 1 to "
            f"{onnx.IR_VERSION}; upgrade onnx or export with an older version"
        )
    standard = [opset for opset in model.opset_import if not standard_domain(opset.domain)]
    if not model.opset_import:
        raise HexsimError(f"{label} does not say which opset it uses; export it again")
    for opset in standard:
        if opset.version > newest:
            raise HexsimError(
                f"{label} uses opset {opset.version}, the installed onnx knows up to {newest}; "
                "upgrade onnx or export with an older opset"
            )


def lowest_opset(node: onnx.NodeProto, opset: int) -> int:
    """Return the lowest version of its operator set in which a node means the same as in `opset`.

    It is `opset` for an operator that onnx does not know.
    """
    domain = standard_domain(node.domain)
    try:
        since = onnx.defs.get_schema(node.op_type, opset, domain).since_version
    except onnx.defs.SchemaError:
        return opset
    inner = [item for graph in subgraphs(node) for item in graph.node if item.domain == node.domain]
    return max((since, *(lowest_opset(item, opset) for item in inner)))


OLDEST_OPSET = 7
"""Operators broadcast as numpy does from opset 7 on."""


class _UnknownShapesError(Exception):
    """A broadcast operand cannot be aligned."""


def to_oldest_opset(model: onnx.ModelProto, label: str) -> onnx.ModelProto:
    """Return `model` in opset 7; HexsimError, naming it by `label`, if it cannot be converted."""
    opset = next((o.version for o in model.opset_import if not standard_domain(o.domain)), 1)
    for node in model.graph.node:
        if not standard_domain(node.domain):
            check(OnnxNode(node, node.name or next(iter(node.output), ""), opset))
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
