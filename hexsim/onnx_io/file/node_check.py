"""Checks that a node has the inputs, outputs and attributes that its operator requires.

Unknown operators of the standard domain are refused, those of other domains are not checked.
"""

import difflib

import onnx

from hexsim.onnx_io.file.node import EXTENSIONS, OnnxNode

Schema = onnx.defs.OpSchema

_INTERNAL = "__"
"""Prefix of attributes for internal use of other programs."""
_LISTS = frozenset({"pool_int64s", "ngram_counts", "ngram_indexes", "split", "value_ints"})
"""Attributes that have more numbers than the axes of a tensor need."""
_MOST = 1000
"""Most numbers of any other attribute: pads have two for each of 64 axes."""


_QUANTIZE_DEQUANTIZE = {"QuantizeLinear", "DequantizeLinear"}
"""Operators of onnxruntime's domain with the same inputs as in the standard domain."""
_FIRST_QUANTIZE_OPSET = 10


def is_of_onnx(node: OnnxNode) -> bool:
    """True if onnx knows the operator in this opset."""
    return bool(onnx.defs.has(node.standard, node.opset, node.domain))


def check(node: OnnxNode) -> None:
    """Raise HexsimError unless the node is valid for its operator."""
    if not any(node.outputs):
        raise node.error("has no output, so no other node can use what it computes")
    if node.domain == EXTENSIONS and node.standard in _QUANTIZE_DEQUANTIZE:
        _check_names(node, onnx.defs.get_schema(node.standard, _FIRST_QUANTIZE_OPSET), "input")
        return
    if not is_of_onnx(node):
        if node.domain:
            return
        raise node.error(
            f"there is no such operator in opset {node.opset}",
            "export the model with another opset",
        )
    schema = onnx.defs.get_schema(node.standard, node.opset, node.domain)
    if schema.deprecated:
        raise node.error(
            f"opset {node.opset} no longer has this operator",
            "export the model with an older opset",
        )
    _check_names(node, schema, "input")
    _check_names(node, schema, "output")
    _check_attributes(node, schema)
    parts = node.integer("num_outputs", len(node.outputs))
    if node.standard == "Split" and parts != len(node.outputs):  # onnx would crash
        raise node.error(f"num_outputs is {parts}, and it has {len(node.outputs)} outputs")


def _check_names(node: OnnxNode, schema: Schema, side: str) -> None:
    names = node.inputs if side == "input" else node.outputs
    formal = schema.inputs if side == "input" else schema.outputs
    least, most = (
        (schema.min_input, schema.max_input)
        if side == "input"
        else (schema.min_output, schema.max_output)
    )
    if not least <= len(names) <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        if most >= 2**31 - 1:
            expected = f"at least {least}"
        raise node.error(f"has {len(names)} {side}s, and its operator takes {expected}")
    for place, name in enumerate(names):
        parameter = formal[min(place, len(formal) - 1)]
        if not name and _is_needed(parameter, side):
            raise node.error(f"leaves out its {side} {parameter.name}, which its operator needs")


def _is_needed(parameter: Schema.FormalParameter, side: str) -> bool:
    """False for optional parameters and for variadic outputs."""
    option = parameter.option
    several = option == Schema.FormalParameterOption.Variadic and side == "input"
    return several or option == Schema.FormalParameterOption.Single


def _check_attributes(node: OnnxNode, schema: Schema) -> None:
    for attribute in node.proto.attribute:
        if attribute.name not in schema.attributes:
            if attribute.name.startswith(_INTERNAL):
                continue
            near = difflib.get_close_matches(attribute.name, schema.attributes, n=1)
            surplus = f"has the attribute {attribute.name}, unknown to its operator"
            raise node.error(surplus, f"did you mean {near[0]}?") if near else node.error(surplus)
        expected = str(schema.attributes[attribute.name].type).rpartition(".")[2]
        actual = onnx.AttributeProto.AttributeType.Name(attribute.type)
        if actual != expected:
            raise node.error(f"attribute {attribute.name} is of type {actual}, not {expected}")
        if not node.domain and attribute.name not in _LISTS and len(attribute.ints) > _MOST:
            raise node.error(f"attribute {attribute.name} has {len(attribute.ints)} numbers")
    for name, attribute in schema.attributes.items():
        if attribute.required and not node.has(name):
            raise node.error(f"lacks the attribute {name}, which its operator needs")
