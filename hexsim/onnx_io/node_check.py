"""Whether a node has the inputs, outputs and attributes that its operator asks for.

Operators that onnx does not know are not checked here, but for those of its own domain: there are
no others.
"""

from __future__ import annotations

import difflib

import onnx

from hexsim.onnx_io.node import Node

Schema = onnx.defs.OpSchema

_INTERNAL = "__"
"""Attributes that programs keep for themselves begin so."""


def check(node: Node) -> None:
    """Raise HexsimError, with what its operator asks for, unless the node is one of its own."""
    domain = "" if node.proto.domain == "ai.onnx" else node.proto.domain
    try:
        schema = onnx.defs.get_schema(node.standard, node.opset, domain)
    except onnx.defs.SchemaError:
        if domain:
            return
        raise node.error(
            f"there is no such operator in opset {node.opset}",
            "export the model with another opset",
        ) from None
    if schema.deprecated:
        raise node.error(
            f"opset {node.opset} has this operator no more", "export the model with an older opset"
        )
    _check_names(node, schema, "input")
    _check_names(node, schema, "output")
    _check_attributes(node, schema)


def _check_names(node: Node, schema: Schema, side: str) -> None:
    names = node.inputs if side == "input" else node.outputs
    formal = schema.inputs if side == "input" else schema.outputs
    least, most = (
        (schema.min_input, schema.max_input)
        if side == "input"
        else (schema.min_output, schema.max_output)
    )
    if not least <= len(names) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        if most >= 2**31 - 1:
            wanted = f"at least {least}"
        raise node.error(f"has {len(names)} {side}s, and its operator takes {wanted}")
    for name, one in zip(names, formal, strict=False):
        if not name and one.option == Schema.FormalParameterOption.Single:
            raise node.error(f"leaves out its {side} {one.name}, which its operator needs")


def _check_attributes(node: Node, schema: Schema) -> None:
    for attribute in node.proto.attribute:
        if attribute.name not in schema.attributes:
            if attribute.name.startswith(_INTERNAL):
                continue
            near = difflib.get_close_matches(attribute.name, schema.attributes, n=1)
            surplus = f"has the attribute {attribute.name}, unknown to its operator"
            raise node.error(surplus, f"did you mean {near[0]}?") if near else node.error(surplus)
        asked = str(schema.attributes[attribute.name].type).rpartition(".")[2]
        held = onnx.AttributeProto.AttributeType.Name(attribute.type)
        if held != asked:
            raise node.error(f"attribute {attribute.name} is of type {held}, not {asked}")
    for name, attribute in schema.attributes.items():
        if attribute.required and not node.has(name):
            raise node.error(f"lacks the attribute {name}, which its operator needs")
