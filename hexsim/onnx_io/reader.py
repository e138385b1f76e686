"""Reads an ONNX model into a Network that computes exactly what the file says.

One walk over the nodes, in order, with every shape known. A node that reads only known arrays is
folded; a node that has a translator becomes layers; any other node whose output shapes onnx can
infer becomes an opaque layer. Nothing is optimised here: `hexsim.passes` does that.

Left out: control flow that reads tensors of the graph around it, sequences, strings, and outputs
whose shape depends on values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import onnx

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.onnx_io import node_results as inference
from hexsim.onnx_io.axis_order import channels_last, identity, stored_shape
from hexsim.onnx_io.importer import Importer, small_value
from hexsim.onnx_io.input_shapes import bind_input_shapes
from hexsim.onnx_io.known import Array, Known, dtype_name, initializers, known_tensor
from hexsim.onnx_io.node import Node, NotALayerError
from hexsim.onnx_io.node_codes import NodeCodes
from hexsim.onnx_io.opaque_nodes import add_opaque
from hexsim.onnx_io.operators import TRANSLATORS
from hexsim.onnx_io.quantization_nodes import strip
from hexsim.onnx_io.source import OnnxSource, open_source

_RANDOM = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
"""Operators that are not folded although their inputs are known."""


@dataclass(frozen=True)
class Imported:
    """A network, and what nodes of its file say about integer codes.

    `codes` are by the name of the tensor or constant.
    """

    network: Network
    codes: Mapping[str, NodeCodes]


def read(
    model: onnx.ModelProto | str | Path,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    weights: Mapping[str, Callable[[], Array]] | None = None,
    name: str | None = None,
) -> Network:
    """Read `model`, a ModelProto or the path of an ONNX file, opset 7 or newer (older: converted).

    `input_dims` gives full shapes (ONNX axis order) to inputs; an unknown batch is 1. `weights`
    makes the initialisers that the model leaves to the caller. `name` defaults to the file's stem
    or the graph's name.
    Raises HexsimError naming node, operator and reason for what cannot be read.
    """
    return read_with_codes(model, input_dims=input_dims, weights=weights, name=name).network


def read_with_codes(
    model: onnx.ModelProto | str | Path,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    weights: Mapping[str, Callable[[], Array]] | None = None,
    name: str | None = None,
) -> Imported:
    """Read as `read` does, with the codes of the nodes that quantise and were stripped."""
    source = open_source(model)
    if name is None:
        name = source.graph.name if isinstance(model, onnx.ModelProto) else Path(model).stem
    shapes = bind_input_shapes(source, input_dims)
    nodes = _nodes(source)
    net = Importer(
        initializers(source, weights or {}), _uses(source), _readers(nodes), _names(source, nodes)
    )
    for value in source.graph.input:
        if value.name in shapes:
            net.add_input(_input(source, value, shapes[value.name]))
    for node in nodes:
        _read_node(node, net, source)
    outputs = tuple(value.name for value in source.graph.output)
    for output in outputs:
        if output not in net.tensors:
            what = "does not depend on any input" if net.exists(output) else "is written by no node"
            raise HexsimError(f"output '{output}' of {source.label} {what}")
    return Imported(net.network(name, tuple(shapes), outputs), net.codes)


def _uses(source: OnnxSource) -> Counter[str]:
    uses = Counter(name for node in source.graph.node for name in node.input)
    uses.update(value.name for value in source.graph.output)
    return uses


def _readers(nodes: Sequence[Node]) -> dict[str, list[Node]]:
    readers: dict[str, list[Node]] = {}
    for node in nodes:
        for name in filter(None, node.inputs):
            readers.setdefault(name, []).append(node)
    return readers


def _names(source: OnnxSource, nodes: Sequence[Node]) -> set[str]:
    names = {node.name for node in nodes}
    names.update(value.name for value in (*source.graph.input, *source.graph.initializer))
    names.update(output for node in nodes for output in node.outputs)
    return names


def _input(source: OnnxSource, value: onnx.ValueInfoProto, shape: tuple[int, ...]) -> Tensor:
    """An image is stored channels last, unless the file itself begins by moving its channels."""
    order = identity(len(shape))
    if len(shape) == 4:
        readers = [node for node in source.graph.node if value.name in node.input]
        if not readers or any(node.op_type != "Transpose" for node in readers):
            order = channels_last(4)
    dtype = dtype_name(value.type.tensor_type.elem_type, value.name)
    return Tensor(value.name, stored_shape(shape, order), order, dtype)


def _nodes(source: OnnxSource) -> list[Node]:
    """The nodes with unique names: their own, or that of their first output.

    Constant nodes come first, so that whoever looks ahead knows their values.
    """
    taken: set[str] = set()
    nodes = []
    for proto in source.graph.node:
        first = next((output for output in proto.output if output), proto.op_type)
        label, count = proto.name or first, 1
        while label in taken:
            label, count = f"{proto.name or first}_{count}", count + 1
        taken.add(label)
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        if domain not in source.opsets:
            raise HexsimError(
                f"node '{label}' ({proto.op_type}): {source.label} does not say which version "
                f"of operator set '{domain or 'ai.onnx'}' it uses"
            )
        nodes.append(Node(proto, label, source.opsets[domain]))
    return sorted(nodes, key=lambda node: node.op_type != "Constant")


def _read_node(node: Node, net: Importer, source: OnnxSource) -> None:
    if node.has_subgraph and (names := _outer_names(node.proto)):
        raise node.error(
            f"its subgraph reads '{min(names)}' of the graph around it; "
            "hexsim runs static graphs, simplify the model before loading it"
        )
    inference.check(node, source)
    for name in filter(None, node.inputs):
        if not net.exists(name):
            raise node.error(f"reads '{name}', which no input, initialiser or earlier node writes")
    for name in filter(None, node.outputs):
        if net.exists(name):
            raise node.error(f"writes '{name}', which exists already")
    try:
        if strip(node, net):
            return
        if all(name in net.known for name in filter(None, node.inputs)) and _folds(node):
            _fold(node, net, source)
            return
        translate = (
            None if node.proto.domain not in ("", "ai.onnx") else TRANSLATORS.get(node.standard)
        )
        try:
            if translate is None:
                raise NotALayerError("unknown operator")
            translate(node, net)
        except NotALayerError:
            _opaque(node, net, source)
    except (ValueError, IndexError) as error:
        raise node.error(str(error)) from None


def _folds(node: Node) -> bool:
    return not node.has_subgraph and node.standard not in _RANDOM


def _fold(node: Node, net: Importer, source: OnnxSource) -> None:
    """Make the outputs known arrays, computed when first read."""
    value = node.tensor("value") if node.standard == "Constant" else None
    if value is not None:
        net.known[node.output] = known_tensor(value, node.output, source, {})
        return
    known = {name: net.known[name] for name in node.inputs if name}
    names = [name for name in node.outputs if name]

    def compute(position: int) -> Array:
        arrays = {name: array.read() for name, array in known.items()}
        return inference.evaluate(node, arrays, source)[position]

    types = inference.output_types(node, _operands(node, net), source)
    for position, name in enumerate(names):
        shape, dtype = types[name]
        net.known[name] = Known(name, shape, dtype, partial(compute, position))


def _opaque(node: Node, net: Importer, source: OnnxSource) -> None:
    add_opaque(node, net, inference.output_types(node, _operands(node, net), source))


def _operands(node: Node, net: Importer) -> dict[str, inference.NodeInput]:
    return {
        name: inference.NodeInput(
            net.source_shape(name),
            net.dtype(name),
            small_value(net.known[name]) if name in net.known else None,
        )
        for name in node.inputs
        if name
    }


def _outer_names(proto: onnx.NodeProto) -> set[str]:
    """Names that the subgraphs of a node read from the graph around it."""
    names: set[str] = set()
    for attribute in proto.attribute:
        for graph in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
            own = {value.name for value in (*graph.input, *graph.initializer)}
            own.update(output for node in graph.node for output in node.output)
            read = {name for node in graph.node for name in node.input if name}
            read.update(*(_outer_names(node) for node in graph.node))
            read.update(value.name for value in graph.output)
            names |= read - own
    return names
