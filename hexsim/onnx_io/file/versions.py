"""Versions of ONNX files: which can be read, and which is written.

A file states the version of its format (IR) and of each operator set. Files are written with the
lowest versions that suffice, since other programs support new versions later than onnx.
"""

import onnx

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.node import standard_domain, subgraphs


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
