"""Layers of several operands or whole axes: Eltwise, Axpy, Reduction, ArgMax."""

import math

from hexsim.frameworks.caffe.description import CaffeLayer
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.layers._shapes import axis_of, require_counts


def eltwise(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add the product, the sum with coefficients, or the maximum of two or more inputs."""
    require_counts(layer, None)
    fields = layer.fields.message("eltwise_param")
    kind = fields.value("operation", "SUM")
    fields.value("stable_prod_grad", True)
    shape, coefficients = net.shape(layer), fields.values("coeff")
    for position in range(len(layer.inputs)):
        if net.shape(layer, position) != shape:
            other = list(net.shape(layer, position))
            raise layer.error(f"its inputs have the shapes {list(shape)} and {other}")
    if len(layer.inputs) < 2:
        raise layer.error("it has one input, and takes two or more")
    if coefficients and (kind != "SUM" or len(coefficients) != len(layer.inputs)):
        raise layer.error(
            f"it has {len(coefficients)} values of 'coeff'; a SUM takes one for each input"
        )
    op_type = {"PROD": "Mul", "SUM": "Add", "MAX": "Max"}[kind]
    operands = [
        name if factor == 1 else net.numbers(layer, "Mul", name, f"scaled{index}", factor)
        for index, (name, factor) in enumerate(
            zip(layer.inputs, coefficients or [1.0] * len(layer.inputs), strict=True)
        )
    ]
    data, *operands_left = operands
    for number, operand in enumerate(operands_left, start=1):
        is_last = number == len(operands_left)
        output = layer.outputs[0] if is_last else net.inner(layer, f"of{number + 1}")
        data = net.add(layer, op_type, [data, operand], shape, output)


def axpy(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a * x + y with one a per channel, as in squeeze-and-excitation networks."""
    require_counts(layer, 3)
    factors, data, addend = (net.shape(layer, position) for position in range(3))
    if addend != data or (*factors, 1, 1)[:4] != (*data[:2], 1, 1):
        raise layer.error(
            f"its inputs have the shapes {list(factors)}, {list(data)} and {list(addend)}"
        )
    scales = layer.inputs[0]
    if len(factors) != len(data):
        target = net.constant(layer, "shape", (*data[:2], 1, 1), "int64")
        name = net.inner(layer, "factors")
        scales = net.add(layer, "Reshape", [scales, target], (*data[:2], 1, 1), name)
    product = net.inner(layer, "product")
    net.add(layer, "Mul", [layer.inputs[1], scales], data, product)
    net.add(layer, "Add", [product, layer.inputs[2]], data)


def reduction(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a sum, a sum of magnitudes or squares, or a mean over the axes from `axis` on, scaled."""
    require_counts(layer)
    fields = layer.fields.message("reduction_param")
    shape = net.shape(layer)
    axis = axis_of(layer, fields.value("axis", 0), len(shape))
    if axis == 0:
        raise layer.error("'axis' is 0; only results per batch item are supported")
    ops = {"SUM": "ReduceSum", "ASUM": "ReduceL1", "SUMSQ": "ReduceSumSquare", "MEAN": "ReduceMean"}
    kind = fields.value("operation", "SUM")
    factor, rows = fields.value("coeff", 1.0), (*shape[:axis], math.prod(shape[axis:]))
    target = net.constant(layer, "shape", rows, "int64")
    data = net.add(layer, "Reshape", [layer.inputs[0], target], rows, net.inner(layer, "rows"))
    output = layer.outputs[0] if factor == 1 else net.inner(layer, "result")
    if kind == "SUM":
        axes = net.constant(layer, "axes", [axis], "int64")
        net.add(layer, ops[kind], [data, axes], shape[:axis], output, keepdims=0)
    else:
        net.add(layer, ops[kind], [data], shape[:axis], output, axes=[axis], keepdims=0)
    if factor != 1:
        net.numbers(layer, "Mul", output, None, factor)


def arg_max(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add the index of the maximum along an axis, or in a whole batch item, as float32."""
    require_counts(layer)
    fields = layer.fields.message("argmax_param")
    shape, data = net.shape(layer), layer.inputs[0]
    if fields.value("top_k", 1) != 1 or fields.value("out_max_val", False):
        raise layer.error("only the index of the maximum is supported (top_k: 1, no out_max_val)")
    if fields.has("axis"):
        axis = axis_of(layer, fields.value("axis", 0), len(shape))
        target = (*shape[:axis], 1, *shape[axis + 1 :])
    else:
        axis, rows = 1, (shape[0], math.prod(shape[1:]))
        data = net.add(layer, "Flatten", [data], rows, net.inner(layer, "rows"), axis=1)
        target = (shape[0], *(1,) * max(len(shape) - 1, 2))
    places = (*net.shapes[data][:axis], 1, *net.shapes[data][axis + 1 :])
    place = net.add(layer, "ArgMax", [data], places, net.inner(layer, "place"), axis=axis)
    if places == target:
        net.add(layer, "Cast", [place], target, to=1)
        return
    as_float = net.add(layer, "Cast", [place], places, net.inner(layer, "real"), to=1)
    net.add(layer, "Reshape", [as_float, net.constant(layer, "shape", target, "int64")], target)


TRANSLATORS = {"ArgMax": arg_max, "Axpy": axpy, "Eltwise": eltwise, "Reduction": reduction}
