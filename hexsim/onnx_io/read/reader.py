"""Reads an ONNX model into a Network that computes exactly what the file says.

The nodes are read in order, with all shapes known. A node that reads only known arrays is folded; a
node with a translator becomes layers; any other node whose output shapes onnx can infer becomes an
opaque layer. Nothing is optimised here: `hexsim.passes` does that.

A node whose shapes depend on values begins a dynamic part (`hexsim.onnx_io.read.dynamic_shapes`). A
node of a user-defined operator (`hexsim.udl`) always becomes a user-defined layer.

Not supported: sequences, strings, and shapes that depend on values and have no bound. An If with a
known condition is replaced by its branch, and a loop of known trips is written out
(`hexsim.onnx_io.read.loops`); other control flow is opaque.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx

from hexsim import budget
from hexsim.errors import HexsimError, InvalidDataError, spelled
from hexsim.graph import whole_numbers
from hexsim.graph.imports import ImportReport, OpaqueNode
from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Opaque
from hexsim.layers.onnx_nodes import RANDOM
from hexsim.onnx_io.file.axis_order import channels_last, identity, stored_shape
from hexsim.onnx_io.file.known import Array, Known, dtype_name, initializers, known_tensor
from hexsim.onnx_io.file.node import MisfitError, NotALayerError, OnnxNode, check, outer_names
from hexsim.onnx_io.file.source import OnnxSource, open_source
from hexsim.onnx_io.read import dynamic_shapes, loops
from hexsim.onnx_io.read import node_results as inference
from hexsim.onnx_io.read.expansions import SHAPED, expanded, expanded_by_shape
from hexsim.onnx_io.read.file_graph import ending_at, ends
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.input_shapes import bind_input_shapes, replaced_sizes
from hexsim.onnx_io.read.node_codes import NodeCodes
from hexsim.onnx_io.read.opaque_and_user_nodes import add_opaque, add_user_defined
from hexsim.onnx_io.read.operators import TRANSLATORS
from hexsim.onnx_io.read.quantization_nodes import dynamic_notes, strip, with_real_constants
from hexsim.records import dataclass
from hexsim.texts.text import visible
from hexsim.udl import find

_STEPS = 32
"""Longest chain of constants that are computed from others and not read yet."""
_REARRANGING = ("Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""Operators that give each number of their first input once, in another shape or order."""
_PART = "it belongs to a supported layer"
"""The reason for an opaque layer that is not a node of the file."""


@dataclass(frozen=True)
class Imported:
    """A network, the encodings that its file states by tensor or array, and the report.

    `named` are the tensors and arrays of the file, and `rearranged` maps a constant to the array
    whose numbers it has, in another shape or order.
    """

    network: Network
    codes: Mapping[str, NodeCodes]
    report: ImportReport
    named: frozenset[str]
    rearranged: Mapping[str, str]


def read(
    model: onnx.ModelProto | str | Path,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    weights: Mapping[str, Callable[[], Array]] | None = None,
    name: str | None = None,
) -> Network:
    """Read `model`, a ModelProto or the path of an ONNX file, opset 7 or newer (older: converted).

    `input_dims` has full shapes (ONNX axis order) of inputs; an unknown batch is 1. `weights` makes
    the initialisers that the model does not contain. `name` defaults to the file's stem or the
    graph's name.
    Raises HexsimError naming node, operator and reason if the model cannot be read.
    """
    return read_with_codes(model, input_dims=input_dims, weights=weights, name=name).network


def read_with_codes(
    model: onnx.ModelProto | str | Path,
    *,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    input_values: Mapping[str, npt.ArrayLike] | None = None,
    output_names: Sequence[str] = (),
    weights: Mapping[str, Callable[[], Array]] | None = None,
    name: str | None = None,
) -> Imported:
    """Read as `read` does, and return the encodings of nodes that quantise, which are removed.

    Inputs with `input_values` become constants. The network ends at `output_names` instead of the
    outputs of the file, unless it is empty.
    """
    source = open_source(model)
    output_tensors, remarks = ends(source, output_names)
    source = ending_at(source, output_tensors)
    if name is None:
        name = (
            source.graph.name if isinstance(model, onnx.ModelProto) else visible(Path(model).stem)
        )
    shapes = bind_input_shapes(source, input_dims, input_values or {})
    net = Importer(initializers(source.graph, source, weights or {}))
    for value in source.graph.input:
        if value.name in shapes:
            why = f"input '{value.name}' of {source.label}"
            budget.require_shape(shapes[value.name], why)
            net.add_input(_input(source, value, shapes[value.name]))
    replaced = replaced_sizes(source, input_dims)
    net.record.notes.extend((*remarks, *replaced))
    net.known.update(_given(source, input_values or {}))
    net.facts.outputs = frozenset(value.name for value in source.graph.output)
    try:
        _read_graph(source.graph, net, source)
    except HexsimError as error:
        if not replaced:
            raise
        raise HexsimError("; ".join((str(error), *replaced))) from None
    outputs = tuple(value.name for value in source.graph.output)
    dynamic_shapes.finish(net, source, outputs)
    outputs = _computed(net, source, outputs, named=bool(output_names or input_values))
    network = net.network(name, tuple(shapes), outputs)
    rearranged = {name: net.origins[name] for name in network.constants if name in net.origins}
    codes = {name: codes for name, codes in net.codes.items() if name not in net.origins}
    report = _report(network, net, source)
    return Imported(network, codes, report, frozenset(net.facts.named), rearranged)


def _computed(
    net: Importer, source: OnnxSource, outputs: tuple[str, ...], *, named: bool
) -> tuple[str, ...]:
    """Return the outputs that depend on an input; a note says which others the file has.

    With `named` the user chose outputs, or the values of inputs, and none is left out.

    Raises HexsimError for an output that no node writes, one that the user has `named`, and if
    none is left.
    """
    constant = [output for output in outputs if output not in net.tensors]
    for output in constant:
        if not net.exists(output):
            raise HexsimError(f"output '{output}' of {source.label} is written by no node")
        if named or len(constant) == len(outputs):
            raise HexsimError(
                f"output '{output}' of {source.label} does not depend on any input, so there is "
                "nothing to run; name another output of the network"
            )
        net.record.notes.append(
            f"output '{output}' does not depend on any input and is left out: it always has the "
            "values that the file states"
        )
    return tuple(output for output in outputs if output in net.tensors)


def _given(source: OnnxSource, values: Mapping[str, npt.ArrayLike]) -> dict[str, Known]:
    arrays = {}
    for value in source.graph.input:
        if value.name in values:
            dtype = dtype_name(value.type.tensor_type.elem_type, value.name)
            numbers = np.asarray(values[value.name])
            if numbers.dtype.kind in "fiub" and (fault := whole_numbers.fault(numbers, dtype)):
                raise HexsimError(
                    f"the value of input '{value.name}' of {source.label} holds {fault}; give it "
                    "such numbers"
                )
            array = numbers.astype(dtype)
            arrays[value.name] = Known(value.name, array.shape, dtype, partial(np.asarray, array))
    return arrays


def _report(network: Network, net: Importer, source: OnnxSource) -> ImportReport:
    opaque = (layer for layer in network.layers if isinstance(layer, Opaque))
    notes = list(net.record.notes)
    if source.was_float16:
        notes.insert(0, "the file holds 16-bit floats, which are read as float32")
    notes += [
        f"'{name}' is codes in the file ({end}), and real numbers in the network"
        for name, end in network.coded_ends.items()
    ]
    if taken := net.codes.keys() - net.origins.keys():
        notes.append(f"the file's own encodings of {len(taken)} tensors are taken")
    return ImportReport(
        nodes=net.record.nodes,
        expanded=net.record.expanded,
        folded=net.record.folded,
        removed=tuple(net.record.removed),
        opaque=tuple(
            OpaqueNode(layer.name, layer.op_type, net.record.reasons.get(layer.name, _PART))
            for layer in opaque
        ),
        notes=tuple(notes),
    )


def _read_graph(graph: onnx.GraphProto, net: Importer, source: OnnxSource) -> None:
    net.facts.visit(len(graph.node))
    net.facts.named.update(value.name for value in (*graph.input, *graph.initializer))
    net.facts.named.update(name for node in graph.node for name in filter(None, node.output))
    nodes, replaced_nodes = expanded(graph, source, net.facts.labels)
    net.record.nodes += len(graph.node)
    net.record.notes += dynamic_notes(replaced_nodes)
    net.expect(nodes, (value.name for value in graph.output))
    net.record.expanded.update((node.name, node.op_type) for node in replaced_nodes)
    for node in nodes:
        if node.op_type == "If":
            _if(node, net, source)
        elif node.op_type not in loops.LOOPS or not _loop(node, net, source):
            _read_node(node, net, source)


def _loop(node: OnnxNode, net: Importer, source: OnnxSource) -> bool:
    """Write out a loop of known trips; False if there is none."""
    check(node)
    _require_names(node, net)
    if any(name not in net.tensors and name not in net.known for name in node.reads):
        return False  # a tensor whose shape depends on values
    try:
        return loops.write_out(node, net, partial(_part, source=source))
    except InvalidDataError as error:
        raise node.misfit(str(error)) from error


def _part(graph: onnx.GraphProto, net: Importer, source: OnnxSource) -> None:
    net.known.update(initializers(graph, source, {}))
    _read_graph(graph, net, source)


def _if(node: OnnxNode, net: Importer, source: OnnxSource) -> None:
    """Replace an If by the branch that it takes; if that is not known, it becomes opaque.

    A branch that does not fit the shapes of this network is never taken. If the branches write
    tensors of other sizes, it begins a dynamic part.
    """
    check(node)
    _require_names(node, net)
    condition = node.inputs[0]
    if condition in net.known:
        net.record.folded[node.name] = node.op_type
        if math.prod(net.known[condition].shape) != 1:
            shape = list(net.known[condition].shape)
            raise node.error(f"its condition '{condition}' has the shape {shape}, not one element")
        holds = bool(net.known[condition].read().item())
        _branch(node, "then_branch" if holds else "else_branch", net, source)
        return
    if dynamic_shapes.joins(node, net):
        dynamic_shapes.add(node, net, source)
        return
    shapes = tuple(net.source_shape(name) for name in outer_names(node.proto))
    branch_key = (node.proto.SerializeToString(deterministic=True), shapes)
    if branch_key in net.facts.fitting:  # read before, in a trial of the branch around it
        _only(node, net.facts.fitting[branch_key], net, source)
        return
    types, misfits = {}, []
    for attribute in ("then_branch", "else_branch"):
        trial = net.trial()
        try:
            _branch(node, attribute, trial, source)
        except MisfitError as error:
            misfits.append(error)
            continue
        except inference.UnknownShapeError:
            dynamic_shapes.add(node, net, source)
            return
        types[attribute] = {n: (trial.source_shape(n), trial.dtype(n)) for n in node.outputs if n}
    if not types:
        raise misfits[0]
    if misfits:
        (net.facts.fitting[branch_key],) = types
        _only(node, net.facts.fitting[branch_key], net, source)
        return
    if types["then_branch"] != types["else_branch"]:
        dynamic_shapes.add(node, net, source)
        return
    net.record.reasons[node.name] = (
        f"its condition '{condition}' is not known before the network runs; if it depends on an "
        f"input alone, give that a value ({spelled('input_values')})"
    )
    add_opaque(node, net, types["then_branch"])


def _only(node: OnnxNode, attribute: str, net: Importer, source: OnnxSource) -> None:
    reason = "since the other branch does not fit the shapes"
    net.record.notes.append(f"node '{node.name}' (If) is replaced by its {attribute}, {reason}")
    net.record.folded[node.name] = node.op_type
    _branch(node, attribute, net, source)


def _branch(node: OnnxNode, attribute: str, net: Importer, source: OnnxSource) -> None:
    graph = onnx.GraphProto()
    graph.CopyFrom(node.branch(attribute))
    for inner, outer in zip(graph.output, node.outputs, strict=True):
        if outer:
            graph.node.add(op_type="Identity", input=[inner.name], output=[outer])
    _part(graph, net, source)


def _input(source: OnnxSource, value: onnx.ValueInfoProto, shape: tuple[int, ...]) -> Tensor:
    """Return an input; images are channels last unless the file begins with a Transpose."""
    order = identity(len(shape))
    if len(shape) == 4:
        readers = _readers(value.name, source.graph)
        if not readers or any(node.op_type != "Transpose" for node in readers):
            order = channels_last(4)
    dtype = dtype_name(value.type.tensor_type.elem_type, value.name)
    return Tensor(value.name, stored_shape(shape, order), order, dtype)


def _readers(name: str, graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Return the nodes that read a tensor, passing through nodes that quantise."""
    names, readers = {name}, []
    for node in graph.node:  # in order
        if names.intersection(node.input):
            if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
                names.update(node.output)
            else:
                readers.append(node)
    return readers


def _read_node(node: OnnxNode, net: Importer, source: OnnxSource) -> None:
    check(node)
    _require_names(node, net)
    try:
        _add(node, net, source)
    except InvalidDataError as error:
        raise node.misfit(str(error)) from error


def _add(node: OnnxNode, net: Importer, source: OnnxSource) -> None:
    """Add a node to the network, in the first form that is possible.

    Raises InvalidDataError or HexsimError for a node that is not valid or does not fit its inputs.
    Any other exception is a bug, since all errors of a file are checked explicitly.
    """
    if dynamic_shapes.joins(node, net):
        dynamic_shapes.add(node, net, source)
        return
    if strip(node, net):
        if node.output in net.known:
            net.record.folded[node.name] = node.op_type
        elif node.output not in net.tensors:  # else it is a layer, until the passes remove it
            net.record.removed.append(node.name)
        return
    node = with_real_constants(node, net)
    user_operator = find(node.op_type)
    if user_operator is not None:
        add_user_defined(node, net, user_operator)
        return
    is_known = all(name in net.known for name in filter(None, node.inputs))
    if is_known and not node.has_subgraph and node.standard not in RANDOM:
        _fold(node, net, source)
        return
    translate = None if node.domain else TRANSLATORS.get(node.standard)
    try:
        if node.op_type in SHAPED:
            for part in expanded_by_shape(node, net, source):
                _read_node(part, net, source)
            return
        if translate is None:
            raise NotALayerError("hexsim has no layer for this operator")
        translate(node, net)
        if node.output in net.known:
            net.record.folded[node.name] = node.op_type
    except NotALayerError as reason:
        net.record.reasons[node.name] = str(reason)
        _opaque(node, net, source)


def _require_names(node: OnnxNode, net: Importer) -> None:
    """Raise HexsimError unless all names exist that the node reads, and none that it writes."""
    for name in filter(None, (*node.inputs, *outer_names(node.proto))):
        if not net.exists(name):
            late = name in net.facts.writers
            raise node.error(
                f"reads '{name}', which only a later node writes; the nodes are not sorted, or "
                "form a cycle"
                if late
                else f"reads '{name}', which no input, initialiser or earlier node writes"
            )
    for name in filter(None, node.outputs):
        if net.exists(name):
            raise node.error(f"writes '{name}', which exists already")


def _fold(node: OnnxNode, net: Importer, source: OnnxSource) -> None:
    """Make the outputs known arrays, which are computed when first read."""
    net.record.folded[node.name] = node.op_type
    value = node.tensor("value") if node.standard == "Constant" else None
    if value is not None:
        net.known[node.output] = known_tensor(value, node.output, source, {})
        return
    types = inference.output_types(node, _operands(node, net), source)
    net.charge(node.name, sum(math.prod(shape) for shape, _ in types.values()))
    operands = {name: net.known[name] for name in node.inputs if name}
    results: list[Array] = []

    def compute(position: int) -> Array:
        if not results:
            arrays = {name: array.read() for name, array in operands.items()}
            results.extend(inference.evaluate(node, arrays, source))
        result = results[position]
        if len(types) == 1:
            results.clear()
        return result

    steps = 1 + max((array.steps for array in operands.values()), default=0)
    for position, (name, (shape, dtype)) in enumerate(types.items()):
        is_cached = net.facts.uses[name] > 1 or steps > _STEPS
        known = Known(
            name, shape, dtype, partial(compute, position), is_cached=is_cached, steps=steps
        )
        net.known[name] = known
        if steps > _STEPS:
            known.read()
    if node.standard in _REARRANGING:
        data, *others = node.inputs

        def change(array: Array) -> Array:
            arrays = {name: operands[name].read() for name in others if name}
            return inference.evaluate(node, {data: array, **arrays}, source)[0]

        net.follow(data, node.output, change)


def _opaque(node: OnnxNode, net: Importer, source: OnnxSource) -> None:
    """Add an opaque node; it begins a dynamic part if the shapes of its results are not known."""
    try:
        types = inference.output_types(node, _operands(node, net), source)
    except inference.UnknownShapeError:
        types = {}
        if node.op_type in loops.LOOPS and net.dynamic.allowed:  # a trial within trials takes long
            types = loops.types(node, net, partial(_part, source=source))
            net.record.reasons[node.name] = "how often its body is run depends on values"
        if not types:
            dynamic_shapes.add(node, net, source)
            return
    add_opaque(node, net, types)


def _operands(node: OnnxNode, net: Importer) -> dict[str, inference.NodeInput]:
    return {name: net.operand_type(name) for name in node.reads}
