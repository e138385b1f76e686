"""Dynamic parts: nodes whose results have shapes that depend on values, and nodes that read them.

A detector ends in NonMaxSuppression and in nodes that gather the chosen boxes. Such nodes become
one opaque layer, a dynamic part of the file's graph that the CPU runs unchanged.

1. A node begins a dynamic part if the shape of a result depends on values, and has a bound.
2. A node that reads a tensor of a part joins it, whatever the shape of its own results.
3. But a product (convolution, matrix product, recurrent cell) of tensors with known shapes is an
   ordinary layer. Nodes that read its results, and further dynamic tensors, are a second part.
4. All parts that do not depend on another one become one layer, named after its first node.
5. Shapes are computed twice: with the most elements of every result, and with few. Sizes that
   differ are only known when the network runs. Costs are counted for the larger sizes; if a node
   subtracts sizes, these are not upper bounds.
6. An If belongs to a part as one node. Unless sizes decide which branch it takes, its results have
   the larger sizes of both branches, and it costs what the more expensive one does.

Bounds: NonMaxSuppression keeps at most the given number of boxes per class; NonZero, Unique and
Compress keep at most everything; TopK and Slice with computed bounds at most a whole axis. Refused:
loops in a part, operators of other domains than onnxruntime's, and results without a bound, such as
a Range up to a computed number.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import onnx

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.ir import Shape, Tensor
from hexsim.layers import Opaque
from hexsim.layers.onnx_nodes import PART_DOMAIN, operator_of
from hexsim.onnx_io.file.known import Array, initializers
from hexsim.onnx_io.file.node import (
    EXTENSIONS,
    MisfitError,
    OnnxNode,
    check,
    count_from_the_front,
    positive_axis,
)
from hexsim.onnx_io.file.source import OnnxSource
from hexsim.onnx_io.read import node_results as inference
from hexsim.onnx_io.read.file_graph import named
from hexsim.onnx_io.read.importer import Importer, small_value
from hexsim.onnx_io.read.network_state import Unsized
from hexsim.onnx_io.read.node_codes import DEQUANTIZE, QUANTIZE, is_linear
from hexsim.onnx_io.read.node_results import NodeInput
from hexsim.onnx_io.read.operator_work import OperatorWork, assumption, operator_work
from hexsim.records import dataclass, replace

Operands = Mapping[str, NodeInput]
_Rule = Callable[[OnnxNode, Sequence[NodeInput | None]], Sequence[Shape]]


def most_elements(node: OnnxNode, operands: Operands) -> dict[str, Shape]:
    """Return the largest shape of each named output; nothing for operators without a bound."""
    rule = _RULES.get(node.op_type)
    if rule is None:
        return {}
    shapes = rule(node, [operands.get(name) for name in node.inputs])
    return {name: shape for name, shape in zip(node.outputs, shapes, strict=False) if name}


def _chosen_boxes(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    """Return the bound of NonMaxSuppression: rows of batch, class and box."""
    batches, classes, boxes = _shape(inputs, 1, 3)
    most = boxes
    if len(inputs) < 3 or inputs[2] is None:
        most = 0  # the standard's default
    elif (value := inputs[2].value) is not None:
        most = min(boxes, max(0, int(np.max(value, initial=0))))
    return [(batches * classes * most, 3)]


def _places(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    shape = _shape(inputs, 0)
    return [(len(shape), math.prod(shape))]


def _distinct(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    """Return the bounds of Unique: values, first positions, inverse indices, counts."""
    shape = _shape(inputs, 0)
    if not node.has("axis"):
        return [(math.prod(shape),)] * 4
    size = shape[positive_axis(node.integer("axis", 0), len(shape))]
    return [shape, *[(size,)] * 3]


def _compressed(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    shape, (flags,) = _shape(inputs, 0), _shape(inputs, 1, 1)
    if not node.has("axis"):
        return [(min(math.prod(shape), flags),)]
    axis = positive_axis(node.integer("axis", 0), len(shape))
    return [(*shape[:axis], min(shape[axis], flags), *shape[axis + 1 :])]


def _all_of_it(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    return [_shape(inputs, 0)] * 2


def _shape(inputs: Sequence[NodeInput | None], position: int, rank: int | None = None) -> Shape:
    operand = inputs[position]
    assert operand is not None, "onnx has checked that it is there"
    if rank is not None and len(operand.shape) != rank:
        raise InvalidDataError(f"input {position} has {len(operand.shape)} axes, not {rank}")
    return operand.shape


_RULES: Mapping[str, _Rule] = {
    "Compress": _compressed,
    "NonMaxSuppression": _chosen_boxes,
    "NonZero": _places,
    "Slice": _all_of_it,
    "TopK": _all_of_it,
    "Unique": _distinct,
}


_FEW = 2
"""Elements of the second computation of shapes (rule 5); a size of one would broadcast."""
_VALUE_ELEMENTS = 64
"""Most elements of a tensor whose values may decide shapes."""
_REASON = "the size of its result depends on values that are known only when the network runs"


@dataclass(frozen=True)
class _Outcome:
    """The results of a node by name, its work with all elements that it reads, and notes on it."""

    results: Operands
    work: OperatorWork
    notes: Sequence[str]


def joins(node: OnnxNode, net: Importer) -> bool:
    """True if `node` belongs to a dynamic part.

    The operands of a product that does not (rule 3) become ordinary tensors.
    """
    dynamic_inputs = [name for name in node.reads if name in net.dynamic.tensors]
    dynamic_inputs = [name for name in dynamic_inputs if name not in net.tensors]
    if not dynamic_inputs:
        return False
    tensors = [net.dynamic.tensors[name] for name in dynamic_inputs]
    sized = all(not tensor.varies and tensor.most.dtype == "float32" for tensor in tensors)
    if not sized or not _is_product(node, net):
        return True
    for name, tensor in zip(dynamic_inputs, tensors, strict=True):
        net.tensors[name] = Tensor(name, tensor.most.shape, (), tensor.most.dtype)
    return False


def add(node: OnnxNode, net: Importer, source: OnnxSource) -> None:
    """Add a node to its dynamic part.

    Raises UnknownShapeError for a loop, an operator that onnxruntime does not have, and results
    without a bound.
    """
    if not net.dynamic.allowed:
        raise inference.unknown_shape(node, node.output)
    node = _as_floats(node, net)
    most, few = (_seen(node, net, few) for few in (False, True))
    assert most is not None, "every tensor has an upper bound"
    outcome = _outcome(node, most, source, few=False)
    fewer = None if few is None else _tried(node, few, source)
    part = _part_of(node, net)
    for name, result in outcome.results.items():
        net.dynamic.tensors[name] = Unsized(part, result, None if fewer is None else fewer[name])
    net.dynamic.work[node.name] = outcome.work
    net.record.notes += outcome.notes
    while len(net.dynamic.nodes) <= part:
        net.dynamic.nodes.append([])
    net.dynamic.nodes[part].append(node)


def finish(net: Importer, source: OnnxSource, outputs: Iterable[str]) -> None:
    """Add a layer for each part, with the nodes that outputs or other layers need."""
    wanted_names = [*outputs, *(name for name in net.dynamic.tensors if name in net.tensors)]
    layers: list[tuple[list[OnnxNode], list[str]]] = []
    for number in reversed(range(len(net.dynamic.nodes))):
        kept_nodes, needed = list[OnnxNode](), set(wanted_names)
        for node in reversed(net.dynamic.nodes[number]):
            if needed.intersection(node.outputs):
                kept_nodes.insert(0, node)
                needed.update(node.reads)
        if kept_nodes:
            layers.insert(0, (kept_nodes, list(wanted_names)))
            wanted_names += [name for node in kept_nodes for name in node.reads]
    for nodes, outputs_wanted in layers:
        _add_part(nodes, outputs_wanted, net, source)
    net.sort()


def _add_part(
    nodes: Sequence[OnnxNode], wanted: Sequence[str], net: Importer, source: OnnxSource
) -> None:
    tensors, first = net.dynamic.tensors, nodes[0]
    names = [name for node in nodes for name in node.outputs if name]
    outer = set(wanted)
    outputs = [name for name in names if name in outer]
    input_names = sorted({name for node in nodes for name in node.reads} - set(names))
    inner = sum(math.prod(tensors[name].most.shape) for name in names if name not in outer)
    work = [net.dynamic.work[node.name] for node in nodes]
    made = [(name, tensors[name], tensors[name].most) for name in outputs]
    outputs_made = [Tensor(n, most.shape, (), most.dtype, own.varies) for n, own, most in made]
    layer = Opaque(
        first.name,
        tuple(net.in_source_order(n) for n in input_names),
        tuple(outputs),
        fused=tuple(node.name for node in nodes[1:]),
        op_type=operator_of([node.op_type for node in nodes]),
        node=_part_proto(nodes, outputs, net),
        opset=source.opset,
        shapes=tuple(tensor.shape for tensor in outputs_made),
        products=sum(node_work.macs for node_work in work),
        operations=sum(node_work.operations for node_work in work),
        picks=inner + sum(node_work.picks for node_work in work),
        sized_by_values=True,
    )
    net.record.reasons[layer.name] = _REASON
    net.add_with(layer, outputs_made)


def _part_proto(nodes: Sequence[OnnxNode], outputs: Sequence[str], net: Importer) -> bytes:
    body = onnx.GraphProto(name="part", node=[node.proto for node in nodes])
    for node in body.node:
        if node.op_type == "Resize":
            count_from_the_front(node, len(_operand(node.input[0], net).shape))
    part = onnx.NodeProto(op_type="Part", domain=PART_DOMAIN, output=outputs)
    part.attribute.append(onnx.helper.make_attribute("body", body))
    return bytes(part.SerializeToString(deterministic=True))


def _is_product(node: OnnxNode, net: Importer) -> bool:
    operands = {name: _operand(name, net) for name in node.reads}
    operand_shapes = [operands[name].shape if name else None for name in node.inputs]
    return not node.has_subgraph and operator_work(node, operand_shapes, [(1,)]).macs > 0


def _part_of(node: OnnxNode, net: Importer) -> int:
    """Return the number of the first part that may contain the node: after all it depends on."""
    tensors = net.dynamic.tensors
    behind = {name: tensor.part + 1 for name, tensor in tensors.items() if name in net.tensors}
    if behind:
        for layer in net.layers:
            number = max((behind.get(name, 0) for name in layer.inputs), default=0)
            if number:
                behind.update(dict.fromkeys(layer.outputs, number))
    joined = [tensors[n].part for n in node.reads if n in tensors and n not in net.tensors]
    return max([*joined, *(behind.get(name, 0) for name in node.reads)], default=0)


def _as_floats(node: OnnxNode, net: Importer) -> OnnxNode:
    """Replace the quantisation of codes that are only moved, and floats here, by an Identity."""
    edges = ((QUANTIZE, node.output), (DEQUANTIZE, node.inputs[0] if node.inputs else ""))
    if not any(is_linear(node, operator) and name in net.moved for operator, name in edges):
        return node
    proto = onnx.helper.make_node("Identity", [node.inputs[0]], [node.output], name=node.name)
    return OnnxNode(proto, node.name, node.opset)


def _seen(node: OnnxNode, net: Importer, few: bool) -> dict[str, NodeInput] | None:
    """Return the inputs of a node with most or few elements; None if these are not known."""
    operands = {}
    for name in node.reads:
        unsized = net.dynamic.tensors.get(name)
        if not few or unsized is None or name in net.tensors:
            operands[name] = _operand(name, net)
        elif unsized.few is None:
            return None
        else:
            operands[name] = unsized.few
    return operands


def _operand(name: str, net: Importer) -> NodeInput:
    if name in net.dynamic.tensors:
        return net.dynamic.tensors[name].most
    return net.operand_type(name)


def _tried(node: OnnxNode, operands: Operands, source: OnnxSource) -> Operands | None:
    try:
        return _outcome(node, operands, source, few=True).results
    except HexsimError:
        return None


def _outcome(node: OnnxNode, operands: Operands, source: OnnxSource, *, few: bool) -> _Outcome:
    if node.op_type == "If":
        return _of_branches(node, operands, source, few=few)
    if node.domain not in ("", EXTENSIONS) or node.has_subgraph:
        raise inference.unknown_shape(node, node.output)
    bounds = most_elements(node, operands)
    results = {}
    for name, (sizes, dtype) in inference.partial_types(node, operands, source).items():
        shape = _filled(sizes, bounds.get(name), few)
        if shape is None:
            raise inference.unknown_shape(node, name)
        results[name] = NodeInput(shape, dtype)
    values = _values(node, operands, results, source)
    results = {
        name: NodeInput(result.shape, result.dtype, values.get(name))
        for name, result in results.items()
    }
    operand_shapes = [operands[name].shape if name else None for name in node.inputs]
    shapes = [result.shape for result in results.values()]
    work = operator_work(node, operand_shapes, shapes)
    read = work.picks or sum(math.prod(shape) for shape in operand_shapes if shape is not None)
    assumed = assumption(node, operand_shapes, shapes)
    return _Outcome(results, replace(work, picks=read), [assumed] if assumed else [])


def _of_branches(node: OnnxNode, operands: Operands, source: OnnxSource, *, few: bool) -> _Outcome:
    """Return what an If does: by the branch that sizes choose, else by both that fit."""
    condition = operands[node.inputs[0]].value
    branches, misfits = list[_Outcome](), list[MisfitError]()
    for attribute, taken in (("then_branch", True), ("else_branch", False)):
        if condition is not None and condition.all() != taken:
            continue
        try:
            branches.append(_of_graph(node, attribute, operands, source, few=few))
        except MisfitError as error:
            misfits.append(error)
    if not branches:
        raise misfits[0]
    results = {}
    for name in filter(None, node.outputs):
        ends = [branch.results[name] for branch in branches]
        if len({(len(end.shape), end.dtype) for end in ends}) > 1:
            raise node.error("its branches write tensors of different ranks or types")
        sizes = zip(*(end.shape for end in ends), strict=True)
        shape = tuple(map(min if few else max, sizes))
        results[name] = NodeInput(shape, ends[0].dtype, ends[0].value if len(ends) == 1 else None)
    work = max((branch.work for branch in branches), key=lambda work: work.macs + work.operations)
    return _Outcome(results, work, [note for branch in branches for note in branch.notes])


def _of_graph(
    node: OnnxNode, attribute: str, operands: Operands, source: OnnxSource, *, few: bool
) -> _Outcome:
    """Return what the nodes of a branch do, and the tensors with which it ends."""
    graph, known = node.branch(attribute), dict(operands)
    for name, array in initializers(graph, source, {}).items():
        known[name] = NodeInput(array.shape, array.dtype, small_value(array))
    outcomes = []
    for inner in named(graph.node, source, {node.name}):
        check(inner)
        if missing := [name for name in inner.reads if name not in known]:
            raise inner.error(f"reads '{missing[0]}', which no node before it writes")
        read = {name: known[name] for name in inner.reads}
        outcomes.append(_outcome(inner, read, source, few=few))
        known.update(outcomes[-1].results)
    works = [outcome.work for outcome in outcomes]
    totals = (sum(getattr(work, key) for work in works) for key in ("macs", "operations", "picks"))
    notes = [note for outcome in outcomes for note in outcome.notes]
    ends = (known[end.name] for end in graph.output)
    return _Outcome(dict(zip(node.outputs, ends, strict=True)), OperatorWork(*totals), notes)


def _filled(sizes: inference.Sizes | None, bound: Shape | None, few: bool) -> Shape | None:
    """Return the known sizes, and bounds for the others; None without bounds."""
    if bound is None:
        return None if sizes is None or None in sizes else tuple(n for n in sizes if n is not None)
    if sizes is None or len(sizes) != len(bound):
        sizes = (None,) * len(bound)
    most = [max(0, min(size - 1, _FEW)) if few else size for size in bound]
    return tuple(most[i] if size is None else size for i, size in enumerate(sizes))


def _values(
    node: OnnxNode, operands: Operands, results: Operands, source: OnnxSource
) -> dict[str, Array]:
    """Return the values of results that follow from shapes or known values alone."""
    if node.op_type in ("Shape", "Size"):
        shape = operands[node.inputs[0]].shape
        start, stop = node.integer("start", 0), node.integer("end", len(shape))
        values = shape[start:stop] if node.op_type == "Shape" else math.prod(shape)
        return {node.output: np.array(values, np.int64)}
    arrays = {
        name: operand.value for name, operand in operands.items() if operand.value is not None
    }
    small = all(math.prod(result.shape) <= _VALUE_ELEMENTS for result in results.values())
    if len(arrays) < len(operands) or not small or most_elements(node, operands):
        return {}
    try:
        computed = inference.evaluate(node, arrays, source)
    except HexsimError:
        return {}
    return dict(zip((name for name in node.outputs if name), computed, strict=True))
