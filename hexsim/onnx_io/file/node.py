"""One ONNX node with typed access to its attributes, and errors that name it.

Checks that a node has the inputs, outputs and attributes that its operator requires.

Unknown operators of the standard domain are refused, those of other domains are not checked.
"""

import difflib
from functools import cached_property

import onnx

from hexsim.errors import HexsimError, InvalidDataError, spelled
from hexsim.records import dataclass

EXTENSIONS = "com.microsoft"
"""Domain of onnxruntime, which has some standard operators in every opset."""
_EXPORT = "export the model again"


def end_before() -> str:
    """Return the remedy for a node that a new export would not change."""
    return f"end the network before it ({spelled('output_names')})"


class NotALayerError(Exception):
    """Raised by a translator: hexsim has no layer for this form of the operator."""


class MisfitError(HexsimError):
    """A node does not fit the shapes of its inputs."""


def positive_axis(axis: int, rank: int) -> int:
    """`axis` counted from the front; InvalidDataError if a tensor of `rank` axes lacks it."""
    if not -rank <= axis < rank:
        raise InvalidDataError(f"axis {axis} does not exist among {rank} axes")
    return axis % rank


def count_from_the_front(node: onnx.NodeProto, rank: int) -> None:
    """Make negative axes positive: onnxruntime 1.20 to 1.23 crashes on negative ones."""
    for attribute in node.attribute:
        if attribute.name == "axes":
            attribute.ints[:] = [axis % rank for axis in attribute.ints]


def standard_domain(name: str) -> str:
    """Return the name of a domain, which is empty for the standard one by either of its names."""
    return "" if name == "ai.onnx" else name


@dataclass(frozen=True)
class OnnxNode:
    """A node, the unique layer name it gets, and the opset version of its operator."""

    proto: onnx.NodeProto
    name: str
    opset: int

    @property
    def op_type(self) -> str:
        """Operator, with its domain unless that is the standard one."""
        return f"{self.domain}.{self.standard}" if self.domain else self.standard

    @property
    def domain(self) -> str:
        """Domain of the operator, empty for the standard one."""
        return standard_domain(self.proto.domain)

    @property
    def standard(self) -> str:
        """Operator without domain."""
        return self.proto.op_type

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Input names; an omitted optional input is an empty string."""
        return tuple(self.proto.input)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Output names; an omitted optional output is an empty string."""
        return tuple(self.proto.output)

    @property
    def reads(self) -> tuple[str, ...]:
        """Names that the node reads, including those that its subgraphs read."""
        return tuple(name for name in (*self.inputs, *outer_names(self.proto)) if name)

    @property
    def output(self) -> str:
        """The first output; HexsimError if there is none."""
        if not self.outputs:
            raise self.error("has no output")
        return self.outputs[0]

    def ends(self, *inputs: str) -> tuple[str, tuple[str, ...], tuple[str]]:
        """Return name, inputs and outputs of a layer of `inputs` that takes its place."""
        return self.name, inputs, (self.output,)

    def input(self, position: int) -> str:
        """Return the name of an input, empty if it is omitted."""
        return self.inputs[position] if position < len(self.inputs) else ""

    def required(self, position: int) -> str:
        """Return the name of an input; HexsimError if it is omitted."""
        if not self.input(position):
            raise self.error(f"has no input number {position + 1}, which its operator needs")
        return self.inputs[position]

    def integer(self, attribute: str, default: int) -> int:
        """Return an int attribute."""
        value = self._attributes.get(attribute)
        return default if value is None else int(value.i)

    def real(self, attribute: str, default: float) -> float:
        """Return a float attribute."""
        value = self._attributes.get(attribute)
        return default if value is None else float(value.f)

    def text(self, attribute: str, default: str) -> str:
        """Return a string attribute."""
        value = self._attributes.get(attribute)
        return default if value is None else value.s.decode("utf-8", "replace")

    def integers(self, attribute: str) -> tuple[int, ...] | None:
        """Return a list of ints, None if the attribute is absent."""
        value = self._attributes.get(attribute)
        return None if value is None else tuple(value.ints)

    def reals(self, attribute: str) -> tuple[float, ...] | None:
        """Return a list of floats, None if the attribute is absent."""
        value = self._attributes.get(attribute)
        return None if value is None else tuple(value.floats)

    def strings(self, attribute: str) -> tuple[bytes, ...]:
        """Return a list of strings, empty if the attribute is absent."""
        value = self._attributes.get(attribute)
        return () if value is None else tuple(value.strings)

    def tensor(self, attribute: str) -> onnx.TensorProto | None:
        """Return a tensor attribute, None if absent."""
        value = self._attributes.get(attribute)
        return None if value is None else value.t

    def has(self, attribute: str) -> bool:
        """True if the file states the attribute."""
        return attribute in self._attributes

    def graph(self, attribute: str) -> onnx.GraphProto:
        """Return a graph attribute, which must be present."""
        return self._attributes[attribute].g

    def branch(self, attribute: str) -> onnx.GraphProto:
        """Return a branch of an If; HexsimError unless it has as many outputs as the node."""
        graph = self.graph(attribute)
        if len(graph.output) != len(self.outputs):
            raise self.error(
                f"its {attribute} has {len(graph.output)} outputs, and the node {len(self.outputs)}"
            )
        return graph

    @property
    def has_subgraph(self) -> bool:
        """True for control flow."""
        kinds = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)
        return any(attribute.type in kinds for attribute in self.proto.attribute)

    def error(self, reason: str, remedy: str = _EXPORT) -> HexsimError:
        """Build the error that names this node, its operator, the reason and the remedy."""
        return HexsimError(self._message(reason, remedy))

    def misfit(self, reason: str) -> MisfitError:
        """Build the error that says why this node does not fit its inputs."""
        return MisfitError(self._message(reason, _EXPORT))

    def _message(self, reason: str, remedy: str) -> str:
        return f"node '{self.name}' ({self.op_type}): {reason}; {remedy}"

    @cached_property
    def _attributes(self) -> dict[str, onnx.AttributeProto]:
        return {attribute.name: attribute for attribute in self.proto.attribute}


def ends(label: str, *inputs: str) -> tuple[str, tuple[str, ...], tuple[str]]:
    """Return name, inputs and outputs of a layer whose only output is named like itself."""
    return label, inputs, (label,)


def outer_names(proto: onnx.NodeProto) -> list[str]:
    """Return the names that subgraphs of a node read from the graph around it, sorted."""
    names: set[str] = set()
    for graph in subgraphs(proto):
        inner_names = {value.name for value in (*graph.input, *graph.initializer)}
        inner_names.update(output for node in graph.node for output in node.output)
        read_names = {name for node in graph.node for name in node.input if name}
        read_names.update(*(outer_names(node) for node in graph.node))
        read_names.update(value.name for value in graph.output)
        names |= read_names - inner_names
    return sorted(names)


def subgraphs(proto: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs among the attributes of a node."""
    return [
        graph
        for attribute in proto.attribute
        for graph in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs)
    ]


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
    names, formal = getattr(node, f"{side}s"), getattr(schema, f"{side}s")
    least, most = getattr(schema, f"min_{side}"), getattr(schema, f"max_{side}")
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
