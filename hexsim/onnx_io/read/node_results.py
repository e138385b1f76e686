"""Output types of one node by the onnx package and, if its inputs are constant, output values.

The size of an image that is resized by scales is that of onnxruntime, which multiplies in float32,
where onnx multiplies in float64. Ten pixels times 0.7 are six for onnx and seven for onnxruntime,
since the 0.7 in a file is a float32 slightly below 0.7.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.shape_inference

from hexsim import budget
from hexsim.errors import HexsimError, InvalidDataError, spelled
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.crash_proof import crash_proof, is_plain
from hexsim.onnx_io.file.known import Array, dtype_name
from hexsim.onnx_io.file.node import EXTENSIONS, OnnxNode, end_before, is_of_onnx, positive_axis
from hexsim.onnx_io.file.source import OnnxSource
from hexsim.onnx_io.runtime import load_onnxruntime
from hexsim.records import dataclass
from hexsim.udl.calling import exception_text


class UnknownShapeError(HexsimError):
    """The shape of an output is not known before the network runs."""


_QUANTIZE_DEQUANTIZE = ("QuantizeLinear", "DequantizeLinear")
"""Operators of onnxruntime's domain that are also in the standard domain."""
_EVERY_INTEGER = 21
"""The opset of which the onnx package evaluates these operators for all types of codes; those of
before 19 it evaluates without some. The operators of later opsets only take more."""


Sizes = tuple[int | None, ...]
"""A shape, None where a size is not known."""


@dataclass(frozen=True)
class NodeInput:
    """Shape and dtype of an input; its `value` if known and small enough to decide a shape."""

    shape: Shape
    dtype: str
    value: Array | None = None


def output_types(
    node: OnnxNode, operands: Mapping[str, NodeInput], source: OnnxSource
) -> dict[str, tuple[Shape, str]]:
    """Return shape and dtype of each named output.

    Operators without a schema get the types stated in the file, or else those that onnxruntime
    infers. Raises UnknownShapeError if a shape stays unknown, HexsimError if an output
    is not a tensor.
    """
    types = {}
    for name, (sizes, dtype) in partial_types(node, operands, source).items():
        if sizes is None or None in sizes:
            raise unknown_shape(node, name)
        types[name] = (tuple(size for size in sizes if size is not None), dtype)
    return types


def partial_types(
    node: OnnxNode, operands: Mapping[str, NodeInput], source: OnnxSource
) -> dict[str, tuple[Sizes | None, str]]:
    """Return sizes and dtype of each named output; None stands for an unknown size or rank."""
    if node.domain == EXTENSIONS and node.proto.op_type in _QUANTIZE_DEQUANTIZE:
        return {node.outputs[0]: _coded(node, operands)}
    if not is_of_onnx(node):
        types = {v.name: v.type for v in (*source.graph.value_info, *source.graph.output)}
        if not all(_is_sized(types.get(name)) for name in node.outputs if name):
            types |= _of_onnxruntime(node, operands, source)
    else:
        types = _inferred(node, operands, source)
    results = {name: _sizes(node, name, types.get(name)) for name in node.outputs if name}
    scales = _scales_of(node, operands)
    if scales.size and scales.size == len(operands[node.inputs[0]].shape):
        name, sizes = node.outputs[0], np.asarray(operands[node.inputs[0]].shape, np.float32)
        results[name] = tuple(int(size) for size in sizes * scales), results[name][1]
    return results


def unknown_shape(node: OnnxNode, name: str) -> UnknownShapeError:
    """Build the error that says why output `name` has no shape."""
    reason = "its operator is unknown to onnx and the file does not give its shape"
    remedy = f"say what it does ({spelled('udl')}), or {end_before()}"
    if onnx.defs.has(node.proto.op_type, node.domain):
        reason = "its shape depends on values that are known only when the network runs"
        remedy = end_before()
    error = node.error(f"the shape of output '{name}' cannot be inferred: {reason}", remedy)
    return UnknownShapeError(str(error))


def evaluate(node: OnnxNode, inputs: Mapping[str, Array], source: OnnxSource) -> list[Array]:
    """Return the named outputs of a node whose inputs are all known."""
    from onnx.reference import ReferenceEvaluator  # slow to import, seldom needed

    outputs = [name for name in node.outputs if name]
    proto, opsets = node.proto, dict(source.opsets)
    if proto.op_type in _QUANTIZE_DEQUANTIZE:
        proto = onnx.NodeProto()
        proto.CopyFrom(node.proto)
        proto.domain, opsets = "", {"": max(source.opset, _EVERY_INTEGER)}
    graph = onnx.helper.make_graph(
        [proto],
        "constant",
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in inputs],
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
    )
    imports = [onnx.helper.make_opsetid(d, v) for d, v in opsets.items()]
    model = onnx.helper.make_model(graph, opset_imports=imports)
    try:
        with np.errstate(all="ignore"):  # results may be infinite or none, as in onnxruntime
            results = ReferenceEvaluator(model).run(None, dict(inputs))
    except Exception as error:  # the evaluator raises whatever its numpy code does
        # its GatherElements fails for axes of 64 or more, and for fewer rows of indices than data
        session = _session([node.proto], {}, inputs, outputs, source)
        with contextlib.suppress(Exception):  # onnxruntime's errors share no class of their own
            return list(session.run(None, {}))
        constants = ", ".join(f"{input_.dtype} {list(input_.shape)}" for input_ in inputs.values())
        raise node.error(
            f"cannot be computed from its constants ({constants or 'none'}): "
            f"{exception_text(error)}"
        ) from None
    return [np.asarray(result) for result in results]


def _coded(node: OnnxNode, operands: Mapping[str, NodeInput]) -> tuple[Shape, str]:
    """Return the shape of the first operand, and the type of the scale or of the zero point."""
    data, scale = operands[node.inputs[0]], operands[node.inputs[1]]
    if node.proto.op_type == "DequantizeLinear":
        return data.shape, scale.dtype
    return data.shape, operands[node.input(2)].dtype if node.input(2) else "uint8"


def _inferred(
    node: OnnxNode, operands: Mapping[str, NodeInput], source: OnnxSource
) -> dict[str, onnx.TypeProto]:
    infer = crash_proof(_infer, plain=is_plain(node.proto))
    try:
        return infer(node, operands, source.opsets, source.ir_version)
    except Exception:  # an InferenceError, or whatever its C++ code throws
        inputs = ", ".join(
            f"{operand.dtype} {list(operand.shape)}" for operand in operands.values()
        )
        raise node.misfit(
            f"ONNX has no such node: its attributes and its inputs ({inputs or 'none'}) do not fit "
            "together"
        ) from None


def _infer(
    node: OnnxNode, operands: Mapping[str, NodeInput], opsets: Mapping[str, int], ir_version: int
) -> dict[str, onnx.TypeProto]:
    schema = onnx.defs.get_schema(node.proto.op_type, node.opset, node.domain)
    types = {name: _type(operand) for name, operand in operands.items()}
    data = {
        name: onnx.numpy_helper.from_array(operand.value, name)
        for name, operand in operands.items()
        if operand.value is not None
    }
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    inferred: dict[str, onnx.TypeProto] = onnx.shape_inference.infer_node_outputs(
        schema, node.proto, types, data, opset_imports=imports, ir_version=ir_version
    )
    return inferred


def _of_onnxruntime(
    node: OnnxNode, operands: Mapping[str, NodeInput], source: OnnxSource
) -> dict[str, onnx.TypeProto]:
    """Return the types that onnxruntime infers for a node; none if it does not know it.

    It reports an unknown rank as that of a scalar; the length of its shape tells them apart.
    """
    inputs = {name: _type(operand) for name, operand in operands.items() if operand.value is None}
    known = {name: operand.value for name, operand in operands.items() if operand.value is not None}
    outputs = [name for name in node.outputs if name]
    shapes = [f"shape of {name}" for name in outputs]
    measured = [
        onnx.helper.make_node("Shape", [n], [s]) for n, s in zip(outputs, shapes, strict=True)
    ]
    session = _session([node.proto, *measured], inputs, known, (*outputs, *shapes), source)
    if session is None:
        return {}
    by_name = {output.name: output for output in session.get_outputs()}
    types = {}
    for name, shape in zip(outputs, shapes, strict=True):
        sizes, kind = by_name[name].shape, by_name[name].type.removeprefix("tensor(")[:-1].upper()
        if kind in _NUMBERS and by_name[shape].shape == [len(sizes)]:
            element_type = onnx.TensorProto.DataType.Value(kind)
            types[name] = onnx.helper.make_tensor_type_proto(element_type, sizes)
    return types


def _session(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, onnx.TypeProto],
    known: Mapping[str, Array],
    outputs: Sequence[str],
    source: OnnxSource,
) -> Any:
    """Return nodes with known and unknown inputs in onnxruntime, or None if it refuses them."""
    onnxruntime = load_onnxruntime()  # slow to import, and seldom needed
    graph = onnx.helper.make_graph(
        nodes,
        "node",
        [onnx.helper.make_value_info(name, type_) for name, type_ in inputs.items()],
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in known.items()],
    )
    opsets = {"": source.opset, **source.opsets}
    imports = [onnx.helper.make_opsetid(d, v) for d, v in opsets.items()]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=source.ir_version)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = _FATAL, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception:  # it knows no such node; its errors share no class of their own
        return None


_NUMBERS = {*onnx.TensorProto.DataType.keys()} - {"STRING"}
_FATAL = 4
"""The level of onnxruntime's log at which it prints nothing of a node that it refuses."""


def _type(operand: NodeInput) -> onnx.TypeProto:
    element_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(operand.dtype))
    return onnx.helper.make_tensor_type_proto(element_type, operand.shape)


def _is_sized(proto: onnx.TypeProto | None) -> bool:
    if proto is None or not proto.tensor_type.HasField("shape"):
        return False
    return all(size.HasField("dim_value") for size in proto.tensor_type.shape.dim)


def _sizes(node: OnnxNode, name: str, proto: onnx.TypeProto | None) -> tuple[Sizes | None, str]:
    if proto is not None and proto.WhichOneof("value") not in (None, "tensor_type"):
        kind = str(proto.WhichOneof("value")).removesuffix("_type")
        raise node.error(f"output '{name}' is a {kind}; hexsim reads tensors only", end_before())
    tensor = proto.tensor_type if proto is not None else onnx.TypeProto.Tensor()
    if not tensor.elem_type:
        raise unknown_shape(node, name)
    dtype = dtype_name(tensor.elem_type, name)
    if not tensor.HasField("shape"):
        return None, dtype
    dims = tensor.shape.dim
    sizes = tuple(d.dim_value if d.HasField("dim_value") else None for d in dims)
    if any(size is not None and size < 0 for size in sizes):
        raise node.misfit(f"output '{name}' would have the shape {list(sizes)}")
    budget.require_shape([size or 0 for size in sizes], f"output '{name}' of node '{node.name}'")
    return sizes, dtype


_LAST_WITHOUT_REGION = 10
"""Last opset without a region of interest before the scales."""


def _scales_of(node: OnnxNode, operands: Mapping[str, NodeInput]) -> npt.NDArray[np.float32]:
    """Return the scales of all axes if `node` resizes by these alone, else an empty array."""
    if node.proto.op_type not in ("Resize", "Upsample"):
        return np.empty(0, np.float32)
    early = node.proto.op_type == "Upsample" or node.opset <= _LAST_WITHOUT_REGION
    operand = operands.get(node.input(1 if early else 2))
    value = None if operand is None else operand.value
    stated = value if value is not None else node.reals("scales") or ()
    scales = np.asarray(stated, np.float32).reshape(-1)
    if not np.isfinite(scales).all():
        raise InvalidDataError(f"scales {scales.tolist()} are not finite")
    if not (axes := node.integers("axes")) or not scales.size:
        return scales
    if len(axes) != scales.size:
        raise InvalidDataError(f"{scales.size} scales for {len(axes)} axes")
    rank = len(operands[node.inputs[0]].shape)
    of_all_axes = np.ones(rank, np.float32)
    of_all_axes[[positive_axis(axis, rank) for axis in axes]] = scales
    return of_all_axes
