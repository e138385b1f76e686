"""Damage to ONNX files: of bytes, of protobuf fields, and of what a model says.

Every mutation takes a random generator and the bytes of a file, and returns other bytes. Which
one, and all it does, follows from the generator alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

SIZES = (0, 1, 2, 3, 7, -1, -2, 255, 65536, 2**20, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1)
SIZES += (-(2**31), -(2**63))
"""Numbers that are the wrong size for something."""
FLOATS = (0.0, -0.0, 1e-45, 1e38, 3.4e38, -1e30, float("inf"), float("-inf"), float("nan"))
NAMES = ("", "x", "y", "w", "..", "a/b", "\x1b[31m", "x" * 5000, "ü", "\n", "x y")
OPERATORS = (
    "Add", "Mul", "Conv", "ConvTranspose", "Gemm", "MatMul", "Relu", "Sigmoid", "Softmax", "LRN",
    "MaxPool", "AveragePool", "Concat", "Split", "Slice", "Gather", "GatherND", "Reshape",
    "Transpose", "Flatten", "Expand", "Tile", "Pad", "Resize", "Upsample", "Range",
    "ConstantOfShape", "Constant", "Cast", "Identity", "Shape", "Size", "NonZero", "TopK",
    "Where", "Unsqueeze", "Squeeze", "ReduceMean", "ReduceSum", "ArgMax", "LSTM", "GRU", "RNN",
    "InstanceNormalization", "LayerNormalization", "If", "Loop", "Scan", "BatchNormalization",
    "Clip", "Pow", "Sqrt", "Div", "PRelu", "DepthToSpace", "SpaceToDepth", "QuantizeLinear",
    "Einsum", "DequantizeLinear", "SequenceConstruct", "RandomNormal", "OneHot", "CumSum",
    "EyeLike", "Dropout", "Nonsense", "GlobalAveragePool", "GroupNormalization",
    "LpNormalization", "ScatterND", "QLinearConv", "STFT", "Attention",
)  # fmt: skip

_UNARY = (
    "Relu", "Sigmoid", "Tanh", "Softmax", "Flatten", "Transpose", "Shape", "Exp", "Sqrt", "Erf",
    "Neg", "Identity", "Squeeze", "Size", "ReduceMean", "ReduceMax", "ReduceSum",
    "GlobalAveragePool", "ArgMax", "NonZero", "LogSoftmax", "Hardmax", "Not", "Sin", "Softplus",
    "HardSwish", "Gelu", "LpNormalization", "Dropout", "Concat", "Max", "Sum",
    "MeanVarianceNormalization",
)  # fmt: skip

Mutation = Callable[[random.Random, bytes], bytes]
Change = Callable[[random.Random, onnx.ModelProto], None]


def mutated(rng: random.Random, seed: bytes) -> bytes:
    """Damage `seed` once or a few times, in ways that `rng` chooses."""
    data = seed
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(_BYTES)(rng, data) if rng.random() < 0.2 else _structural(rng, data)
    return data


def _structural(rng: random.Random, data: bytes) -> bytes:
    try:
        model = onnx.ModelProto.FromString(data)
    except Exception:  # of protobuf; it was damaged before
        return data
    if not model.graph.node:
        return data
    try:
        rng.choice(_CHANGES)(rng, model)
        return model.SerializeToString(deterministic=True)
    except (ValueError, TypeError, LookupError, OverflowError):  # what protobuf cannot hold
        return data


# Bytes


def _flips(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _hole(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.choice((1, 2, 4, 16, 200)) :]


def _inserted(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + rng.randbytes(rng.choice((1, 2, 8, 64))) + data[start:]


def _spliced(rng: random.Random, data: bytes) -> bytes:
    """A field is put in place of another, or behind it."""
    fields = _fields(data)
    if len(fields) < 2:
        return data
    (start, end), (begin, stop) = rng.choice(fields), rng.choice(fields)
    kept = data[:end] if rng.random() < 0.3 else data[:start]
    return kept + data[begin:stop] + data[end:]


def _deep(rng: random.Random, data: bytes) -> bytes:
    """The graph goes through as many levels of message as a file may nest, and more."""
    inner = b""
    for _ in range(rng.choice((20, 90, 120, 500))):
        inner = b"\x0a" + _varint(len(inner)) + inner
    return data + b"\x3a" + _varint(len(inner)) + inner


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def _fields(data: bytes, offset: int = 0, depth: int = 0) -> list[tuple[int, int]]:
    """Where the fields of a message lie, and those of what may be messages within it."""
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(data) and len(spans) < 2000:
        start = at
        tag, at = _read_varint(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = _read_varint(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, at = _read_varint(data, at)
            if at + size > len(data):
                return spans
            if depth < 6:
                spans += _fields(data[at : at + size], offset + at, depth + 1)
            at += size
        else:
            return spans
        if at > len(data):
            return spans
        spans.append((offset + start, offset + at))
    return spans


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            break
    return value, at


_BYTES: tuple[Mutation, ...] = (_flips, _flips, _cut, _hole, _inserted, _spliced, _spliced, _deep)


# What a model says


def _graphs(model: onnx.ModelProto) -> list[onnx.GraphProto]:
    graphs, waiting = [], [model.graph]
    while waiting:
        graph = waiting.pop()
        graphs.append(graph)
        waiting += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return graphs


def _graph(rng: random.Random, model: onnx.ModelProto) -> onnx.GraphProto:
    return rng.choice(_graphs(model))


def _node(rng: random.Random, model: onnx.ModelProto) -> onnx.NodeProto:
    return rng.choice([node for graph in _graphs(model) for node in graph.node])


def _tensors(model: onnx.ModelProto) -> list[TensorProto]:
    tensors = [tensor for graph in _graphs(model) for tensor in graph.initializer]
    nodes = (node for graph in _graphs(model) for node in graph.node)
    return tensors + [a.t for node in nodes for a in node.attribute if a.HasField("t")]


def _values(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    return [v for g in _graphs(model) for v in (*g.input, *g.output, *g.value_info)]


def _known_names(model: onnx.ModelProto) -> list[str]:
    nodes = [node for graph in _graphs(model) for node in graph.node]
    names = [name for node in nodes for name in (*node.input, *node.output)]
    return names + [tensor.name for tensor in _tensors(model)]


def _name(rng: random.Random, model: onnx.ModelProto) -> str:
    return rng.choice(NAMES) if rng.random() < 0.3 else rng.choice(_known_names(model))


def _dimension(rng: random.Random, model: onnx.ModelProto) -> None:
    value = rng.choice(_values(model))
    dims = value.type.tensor_type.shape.dim
    choice = rng.randrange(4)
    if choice == 0 or not dims:
        dims.add(dim_value=rng.choice(SIZES))
    elif choice == 1:
        rng.choice(dims).dim_param = rng.choice(("", "N", "batch"))
    elif choice == 2:
        del dims[rng.randrange(len(dims))]
    else:
        rng.choice(dims).dim_value = rng.choice(SIZES)


def _type(rng: random.Random, model: onnx.ModelProto) -> None:
    value = rng.choice(_values(model))
    choice = rng.randrange(4)
    if choice == 0:
        value.type.sequence_type.elem_type.tensor_type.elem_type = 1
    elif choice == 1:
        value.ClearField("type")
    elif choice == 2:
        value.type.tensor_type.ClearField("shape")
    else:
        value.type.tensor_type.elem_type = rng.choice((*range(30), -1, 99, 2**31 - 1))


def _weights(rng: random.Random, model: onnx.ModelProto) -> None:
    tensor = rng.choice(_tensors(model))
    choice = rng.randrange(6)
    if choice == 0 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(SIZES)
    elif choice == 1:
        tensor.dims.append(rng.choice(SIZES))
    elif choice == 2:
        tensor.data_type = rng.choice((*range(30), -1, 99, 2**31 - 1))
    elif choice == 3:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif choice == 4:
        tensor.float_data.extend([1.0] * rng.randrange(9))
    else:
        tensor.data_location = TensorProto.EXTERNAL
        places = ("../../etc/passwd", "/dev/zero", "m.onnx", "", "memory", "hexsim.models", "a\0b")
        tensor.external_data.add(key="location", value=rng.choice(places))
        size = rng.choice(("5", "-1", "1" * 30, "x", str(10**15)))
        tensor.external_data.add(key=rng.choice(("length", "offset", "odd")), value=size)


def _numbers(rng: random.Random, model: onnx.ModelProto) -> None:
    """Elements of a constant become sizes or limits of their type."""
    inside = [tensor for tensor in _tensors(model) if not tensor.external_data]
    tensor = rng.choice(inside)
    array = numpy_helper.to_array(tensor).copy()
    if array.size:
        with np.errstate(all="ignore"):
            fits = array.dtype.kind == "f"
            number = np.array(rng.choice(FLOATS if fits else SIZES))
            array.reshape(-1)[rng.randrange(array.size)] = number.astype(array.dtype)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def _attribute(rng: random.Random, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    if not node.attribute or rng.random() < 0.2:
        names = ("axis", "axes", "pads", "kernel_shape", "strides", "group", "perm", "to", "alpha")
        node.attribute.append(helper.make_attribute(rng.choice(names), rng.choice(SIZES)))
        return
    attribute = rng.choice(node.attribute)
    choice = rng.randrange(7)
    if choice == 0:
        node.attribute.remove(attribute)
    elif choice == 1:
        attribute.type = rng.choice(AttributeProto.AttributeType.values())
    elif choice == 2:
        attribute.name = rng.choice(("axis", "pads", "value", "odd", ""))
    elif choice == 3 and attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(SIZES)
    elif choice == 4:
        del attribute.ints[:]
    elif choice == 5:
        node.attribute.add().CopyFrom(attribute)
    else:
        attribute.i, attribute.f = rng.choice(SIZES), rng.choice(FLOATS)
        attribute.s = rng.choice((b"", b"SAME_UPPER", b"linear", b"\xff\xfe"))


def _shapes(rng: random.Random, model: onnx.ModelProto) -> None:
    """Inputs get another rank, or small sizes; the outputs say nothing."""
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        rank = rng.randrange(7) if rng.random() < 0.6 else len(dims)
        del dims[:]
        for _ in range(rank):
            dims.add(dim_value=rng.choice((0, 1, 1, 2, 3, 4, 8, 33)))
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")


def _steps(rng: random.Random, model: onnx.ModelProto) -> None:
    """Numbers of an attribute become their neighbours, or other small ones."""
    attribute = rng.choice(_node(rng, model).attribute)
    if attribute.ints:
        at = rng.randrange(len(attribute.ints))
        attribute.ints[at] = rng.choice((attribute.ints[at] + 1, attribute.ints[at] - 1, 0, 5))
    attribute.i += rng.choice((-1, 0, 1, 2))
    attribute.f *= rng.choice((-1, 0, 1, 1e6))


def _followed(rng: random.Random, model: onnx.ModelProto) -> None:
    """The output goes through other operators first."""
    output = model.graph.output[0]
    name = output.name
    for number in range(rng.randrange(1, 4)):
        operator = rng.choice(_UNARY)
        model.graph.node.append(helper.make_node(operator, [name], [f"{name}.{number}"]))
        name = f"{name}.{number}"
    output.name = name
    output.type.tensor_type.ClearField("shape")


def _operator(rng: random.Random, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    if rng.random() < 0.8:
        node.op_type = rng.choice(OPERATORS)
    else:
        node.domain = rng.choice(("", "ai.onnx", "com.microsoft", "ai.onnx.ml", "own", "odd"))


def _wiring(rng: random.Random, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    side = node.input if rng.random() < 0.6 else node.output
    choice = rng.randrange(4)
    if choice == 0 or not side:
        side.append(_name(rng, model))
    elif choice == 1:
        del side[rng.randrange(len(side))]
    elif choice == 2:
        del side[:]
    else:
        side[rng.randrange(len(side))] = _name(rng, model)


def _order(rng: random.Random, model: onnx.ModelProto) -> None:
    graph = _graph(rng, model)
    nodes = list(graph.node)
    choice = rng.randrange(4)
    if choice == 0:
        rng.shuffle(nodes)
    elif choice == 1 and nodes:
        nodes.append(rng.choice(nodes))
    elif choice == 2:
        nodes = nodes[:-1] if rng.random() < 0.8 else []
    else:
        chain = [helper.make_node("Relu", [f"r{i}"], [f"r{i + 1}"]) for i in range(300)]
        nodes = [helper.make_node("Identity", ["x"], ["r0"]), *chain, *nodes]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def _edges(rng: random.Random, model: onnx.ModelProto) -> None:
    graph = _graph(rng, model)
    side = graph.input if rng.random() < 0.5 else graph.output
    choice = rng.randrange(5)
    if choice == 0:
        del side[:]
    elif choice == 1 and side:
        side.add().CopyFrom(rng.choice(side))
    elif choice == 2 and side:
        rng.choice(side).name = _name(rng, model)
    elif choice == 3:
        side.add(name=_name(rng, model))
    else:
        value = helper.make_tensor_value_info(_name(rng, model), rng.choice((1, 7)), [2, 3])
        side.append(value)


def _stored(rng: random.Random, model: onnx.ModelProto) -> None:
    graph = _graph(rng, model)
    choice = rng.randrange(5)
    if choice == 0 and graph.initializer:
        graph.initializer.add().CopyFrom(rng.choice(graph.initializer))
    elif choice == 1 and graph.initializer:
        graph.initializer.remove(rng.choice(graph.initializer))
    elif choice == 2 and graph.initializer:
        rng.choice(graph.initializer).name = _name(rng, model)
    elif choice == 3:
        sparse = graph.sparse_initializer.add()
        sparse.values.CopyFrom(numpy_helper.from_array(np.ones(1, np.float32), "w"))
        sparse.indices.CopyFrom(numpy_helper.from_array(np.zeros(1, np.int64), "i"))
        sparse.dims.extend([rng.choice(SIZES)])
    else:
        array = np.array(rng.choice(((), (0,), (1,), (2, 3))), np.int64)
        graph.initializer.append(numpy_helper.from_array(array, _name(rng, model)))


def _versions(rng: random.Random, model: onnx.ModelProto) -> None:
    choice = rng.randrange(5)
    if choice == 0:
        model.ir_version = rng.choice((0, 1, 3, 9, 14, 9999, -1, 2**62))
    elif choice == 1:
        del model.opset_import[:]
    elif choice == 2:
        model.opset_import.add(domain=rng.choice(("", "ai.onnx", "own")), version=rng.choice(SIZES))
    elif model.opset_import:
        versions = (0, 1, 6, 7, 8, 10, 11, 12, 13, 18, 19, 21, 23, 9999, -1, 2**40)
        rng.choice(model.opset_import).version = rng.choice(versions)


def _functions(rng: random.Random, model: onnx.ModelProto) -> None:
    function = model.functions.add(name="F", domain="own")
    function.input.append("a")
    function.output.append("b")
    inner = rng.choice(("F", "G", "Relu", "Missing"))
    domain = "" if inner == "Relu" else "own"
    function.node.append(helper.make_node(inner, ["a"], ["b"], domain=domain))
    function.opset_import.add(domain="", version=17)
    if inner == "G":
        other = model.functions.add()
        other.CopyFrom(function)
        other.name, other.node[0].op_type = "G", "F"
    model.opset_import.add(domain="own", version=1)
    node = _node(rng, model)
    node.op_type, node.domain = "F", "own"


def _computed(rng: random.Random, model: onnx.ModelProto) -> None:
    """Constants of any size, computed by nodes, take the place of an input of a node."""
    graph, node = model.graph, _node(rng, model)
    sizes = [abs(rng.choice(SIZES)) % 2**63 for _ in range(rng.randrange(1, 4))]
    graph.initializer.append(numpy_helper.from_array(np.array(sizes, np.int64), "sizes"))
    graph.initializer.append(numpy_helper.from_array(np.ones((1,) * len(sizes), "f4"), "ones"))
    made = {
        "ConstantOfShape": ["sizes"],
        "Expand": ["ones", "sizes"],
        "Tile": ["ones", "sizes"],
        "Pad": ["ones", "sizes"],
        "RandomUniform": [],
    }
    operator = rng.choice(list(made))
    attributes = {"shape": sizes} if operator == "RandomUniform" else {}
    maker = helper.make_node(operator, made[operator], ["made"], **attributes)
    nodes = [maker, *(onnx.NodeProto.FromString(n.SerializeToString()) for n in graph.node)]
    if node.input:
        at = rng.randrange(len(node.input))
        for following in nodes[1:]:
            if list(following.output) == list(node.output):
                following.input[at] = "made"
    del graph.node[:]
    graph.node.extend(nodes)


def _bytes_of_names(rng: random.Random, model: onnx.ModelProto) -> None:
    """A name becomes one that is no text."""
    bad = onnx.NodeProto.FromString(b"\x0a\x02\xff\xfe\x12\x02\xff\xfe\x22\x02\xff\xfe")
    if rng.random() < 0.5:
        model.graph.node.append(bad)
    else:
        node = _node(rng, model)
        node.MergeFrom(onnx.NodeProto.FromString(b"\x1a\x02\xff\xfe"))


_CHANGES: tuple[Change, ...] = (
    *(_dimension, _dimension, _type, _weights, _weights, _numbers, _numbers),
    *(_attribute, _attribute, _attribute, _operator, _operator, _wiring, _wiring),
    *(_shapes, _shapes, _shapes, _steps, _steps, _steps, _followed, _followed, _followed),
    *(_order, _edges, _stored, _versions, _functions, _computed, _computed, _bytes_of_names),
)
