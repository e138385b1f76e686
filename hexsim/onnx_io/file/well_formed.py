"""Checks the rules that every ONNX file must follow, before anything else reads it.

1. Names are UTF-8 text. Inputs, outputs and initialisers have a name.
2. A node has an operator and an output; an attribute has a unique name and a value of its type.
3. Inputs, initialisers and opsets are unique. No tensor is sparse.
4. Subgraphs nest at most `DEEPEST` levels deep. Functions are not recursive.

The number of parts is limited first (`require_counts`). Other modules check whether nodes fit their
operators (`hexsim.onnx_io.read.node_results`), the data of tensors
(`hexsim.onnx_io.file.stored_tensors`), and their sizes where one is made or read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx

from hexsim import budget
from hexsim.errors import HexsimError
from hexsim.onnx_io.file.node import subgraphs

DEEPEST = 24
"""Most levels of nested subgraphs and calls; protobuf allows a hundred nested messages."""

_FIELDS = {
    "FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "TYPE_PROTO": "tp",
    "SPARSE_TENSOR": "sparse_tensor", "FLOATS": "floats", "INTS": "ints", "STRINGS": "strings",
    "TENSORS": "tensors", "GRAPHS": "graphs", "TYPE_PROTOS": "type_protos",
    "SPARSE_TENSORS": "sparse_tensors",
}  # fmt: skip
_FIELD_OF = {
    onnx.AttributeProto.AttributeType.Value(kind): field for kind, field in _FIELDS.items()
}
"""The field that holds the value of an attribute, by its type."""

Function = tuple[str, str]
"""Domain and name."""


def require_well_formed(model: onnx.ModelProto, label: str) -> None:
    """Raise HexsimError, naming the file by `label`, unless `model` follows all rules."""
    _check_opsets(model, label)
    _check_graph(model.graph, label, 0)
    for function in model.functions:
        _check_texts(label, (function.domain, function.name, *function.input, *function.output))
        _check_nodes(function.node, label, 0)
    if model.functions:
        _check_functions(model, label)


def _check_opsets(model: onnx.ModelProto, label: str) -> None:
    domains: Counter[str] = Counter()
    for item in model.opset_import:
        _check_texts(label, (item.domain,))
        domains[item.domain or "ai.onnx"] += 1
        if item.version < 1:
            raise HexsimError(
                f"{label} uses opset {item.version} of operator set '{item.domain or 'ai.onnx'}', "
                "and opsets count from 1; export it again"
            )
    _check_once(domains, label, "states the version of operator set '{}'")


def _check_graph(graph: onnx.GraphProto, label: str, depth: int) -> None:
    if depth > DEEPEST:
        raise HexsimError(
            f"{label} nests subgraphs deeper than {DEEPEST} levels; export it with less of control "
            "flow in control flow"
        )
    if graph.sparse_initializer:
        raise HexsimError(f"{label} holds sparse initialisers; export it with dense weights")
    inputs = [value.name for value in graph.input]
    stored = [tensor.name for tensor in graph.initializer]
    values = (*graph.input, *graph.output, *graph.value_info)
    _check_texts(label, (graph.name, *stored, *(value.name for value in values)))
    for kind, names in (("an input", inputs), ("an initialiser", stored)):
        _check_once(Counter(names), label, f"has {kind} '{{}}'")
        if "" in names:
            raise HexsimError(f"{label} has {kind} without a name; export it again")
    if any(not value.name for value in graph.output):
        raise HexsimError(f"{label} has an output without a name; export it again")
    if not graph.output:
        raise HexsimError(f"{label} has a graph without outputs; there is nothing to compute")
    for value in values:
        dims = value.type.tensor_type.shape.dim
        _check_texts(label, (dim.dim_param for dim in dims))
    _check_nodes(graph.node, label, depth)


def _check_nodes(nodes: Sequence[onnx.NodeProto], label: str, depth: int) -> None:
    for node in nodes:
        _check_texts(label, (node.name, node.op_type, node.domain, *node.input, *node.output))
        _check_node(node, label)
        for graph in subgraphs(node):
            _check_graph(graph, label, depth + 1)


def _check_node(node: onnx.NodeProto, label: str) -> None:
    where = f"{label}: node '{node.name or next(iter(node.output), '')}' ({node.op_type})"
    if not node.op_type:
        raise HexsimError(f"{where} names no operator; export the model again")
    if not any(node.output):
        raise HexsimError(f"{where} has no output; export the model again")
    _check_texts(label, (attribute.name for attribute in node.attribute))
    _check_once(Counter(filter(None, node.output)), where, "writes '{}'")
    names = Counter(attribute.name for attribute in node.attribute)
    _check_once(names, where, "has an attribute '{}'")
    for attribute in node.attribute:
        field = _FIELD_OF.get(attribute.type)
        filled = {item.name for item, _ in attribute.ListFields()} & set(_FIELDS.values())
        if not attribute.name or (field is None and not attribute.ref_attr_name):
            raise HexsimError(f"{where} has an attribute without name or type; export it again")
        if filled - {field}:
            raise HexsimError(
                f"{where}: attribute '{attribute.name}' holds another kind of value than it says; "
                "export the model again"
            )


def _check_texts(label: str, names: Iterable[str | bytes]) -> None:
    """Raise HexsimError for a name that is not UTF-8, which protobuf returns as bytes."""
    for name in names:
        if isinstance(name, bytes):
            raise HexsimError(
                f"{label} holds the name {ascii(name[:60])[1:]}, which is no text (UTF-8); export "
                "it again"
            )


def _check_once(counts: Counter[str], where: str, text: str) -> None:
    for name, count in counts.items():
        if count > 1:
            raise HexsimError(f"{where} {text.format(name)} {count} times; export the model again")


def _check_functions(model: onnx.ModelProto, label: str) -> None:
    """Check that functions are unique and not recursive, and that all calls fit the budget."""
    functions = {(function.domain, function.name): function for function in model.functions}
    if len(functions) < len(model.functions):
        raise HexsimError(f"{label} has two functions of one name; export it again")
    sizes: dict[Function, int] = {}
    for function in functions:
        _size(function, functions, sizes, (), label)
    total = sum(sizes.get((node.domain, node.op_type), 1) for node in _inner(model.graph.node))
    budget.require(budget.NODES, total, f"{label}, with its functions in the place of their calls,")


def _size(
    function: Function,
    functions: Mapping[Function, onnx.FunctionProto],
    sizes: dict[Function, int],
    callers: tuple[Function, ...],
    label: str,
) -> int:
    """Return the number of nodes of a function, including the functions that it calls."""
    domain, name = function
    if function in callers:
        raise HexsimError(
            f"{label}: function '{domain}.{name}' calls itself, so it has no end; export the model "
            "without functions"
        )
    if len(callers) > DEEPEST:
        raise HexsimError(f"{label}: functions call each other more than {DEEPEST} levels deep")
    if function not in sizes:
        total = 0
        for node in _inner(functions[function].node):
            called = (node.domain, node.op_type)
            is_function = called in functions
            inner = (*callers, function)
            total += _size(called, functions, sizes, inner, label) if is_function else 1
        sizes[function] = total
    return sizes[function]


def _inner(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from _inner(graph.node)


def require_counts(model: onnx.ModelProto, label: str) -> None:
    """Raise HexsimError, naming the file by `label`, if it has more parts than the budget."""
    graph = model.graph
    varying = max(0, len(graph.input) - len(graph.initializer))  # old files list constants, too
    budget.require(budget.ENDS, varying + len(graph.output), label)
    counts = _Counts(label)
    counts.add_names(len(model.functions) + len(model.opset_import))
    for function in model.functions:
        counts.add_names(len(function.input) + len(function.output))
        counts.add_nodes(function.node)
    counts.add_graph(graph)
    for training in model.training_info:
        counts.add_graph(training.initialization)
        counts.add_graph(training.algorithm)
    counts.add_inner()


class _Counts:
    """Counts so far; HexsimError as soon as one exceeds the budget.

    The nodes of a graph are first counted as a whole; their contents follow in `add_inner`.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._nodes = self._names = 0
        self._pending: list[Sequence[onnx.NodeProto]] = []

    def add_graph(self, graph: onnx.GraphProto) -> None:
        """Count the nodes of a graph and the names of its tensors."""
        self.add_nodes(graph.node)
        stored = len(graph.initializer) + len(graph.sparse_initializer)
        self.add_names(stored + len(graph.quantization_annotation))
        for values in (graph.input, graph.output, graph.value_info):
            self.add_names(len(values))
            self.add_names(sum(len(value.type.tensor_type.shape.dim) for value in values))

    def add_nodes(self, nodes: Sequence[onnx.NodeProto]) -> None:
        self._nodes += len(nodes)
        budget.require(budget.NODES, self._nodes, self._label)
        self._pending.append(nodes)

    def add_names(self, count: int) -> None:
        self._names += count
        budget.require(budget.NAMES, self._names, self._label)

    def add_inner(self) -> None:
        """Count the names and the subgraphs of all nodes that were added."""
        while self._pending:
            nodes = self._pending.pop()
            self.add_names(sum(len(n.input) + len(n.output) + len(n.attribute) for n in nodes))
            for node in nodes:
                for graph in subgraphs(node):
                    self.add_graph(graph)
