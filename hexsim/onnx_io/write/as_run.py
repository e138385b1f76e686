"""Converts a node of a file to the form that onnxruntime runs.

QuantizeLinear and DequantizeLinear get a new version whenever ONNX adds a narrow type, which
onnxruntime supports later. Its own domain has the same operators in every opset, without 8-bit
floats.
"""

from collections.abc import Iterable

import onnx

from hexsim.onnx_io.file.node import EXTENSIONS, standard_domain

_QUANTIZE_DEQUANTIZE = {"QuantizeLinear": {"axis"}, "DequantizeLinear": {"axis"}}
"""Operators that are in both domains, with the attributes that both have."""


def as_run(node: onnx.NodeProto, types: Iterable[str]) -> onnx.NodeProto:
    """Return `node` itself, or the same operator in the domain of onnxruntime.

    `types` are the element types of the tensors of its layer.
    """
    common_attributes = _QUANTIZE_DEQUANTIZE.get(node.op_type)
    if common_attributes is None or standard_domain(node.domain):
        return node
    if any(element_type.startswith("float8") for element_type in types):
        return node
    if any(attribute.name not in common_attributes for attribute in node.attribute):
        return node
    renamed = onnx.NodeProto()
    renamed.CopyFrom(node)
    renamed.domain = EXTENSIONS
    return renamed
