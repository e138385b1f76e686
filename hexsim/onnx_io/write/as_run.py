"""A node of a file in the form in which onnxruntime runs it.

QuantizeLinear and DequantizeLinear get a new version with every narrow type that ONNX adds, which
onnxruntime learns later; those of its own domain are the same operators, in files of every opset.
"""

from __future__ import annotations

import onnx

from hexsim.onnx_io.file.source import EXTENSIONS

_CODING = {"QuantizeLinear": {"axis"}, "DequantizeLinear": {"axis"}}
"""Operators that are in both domains, and the attributes they have in both."""


def as_run(node: onnx.NodeProto) -> onnx.NodeProto:
    """Return `node` itself, or the operator of onnxruntime's own that does the same."""
    common_attributes = _CODING.get(node.op_type)
    if common_attributes is None or node.domain not in ("", "ai.onnx"):
        return node
    if any(attribute.name not in common_attributes for attribute in node.attribute):
        return node
    renamed = onnx.NodeProto()
    renamed.CopyFrom(node)
    renamed.domain = EXTENSIONS
    return renamed
