"""Writes a Network as an ONNX graph whose tensors are all in stored order.

Every tensor keeps its name, so any of them can be an output: for calibration, for comparison
layer by layer, or at the edge of a subnet. Layers that ONNX defines as channels first are written
between transposes, most of which onnxruntime removes.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Opaque, Resize
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import EXTENSIONS, standard_domain
from hexsim.onnx_io.file.versions import lowest_opset
from hexsim.onnx_io.write.emitters import EMITTERS
from hexsim.onnx_io.write.emitters.opaque import as_run, nodes_of
from hexsim.onnx_io.write.graph_builder import GraphBuilder, WrittenGraph
from hexsim.onnx_io.write.precision import Precision

DEFAULT_OPSET = 17
"""Opset if no opaque layer needs the opset of its file."""
_OLDEST_OPSET = 8
"""First opset in which Max and Min broadcast; a superset of opset 7."""

_FIRST_WITH_ASPECT = 18
"""First opset in which Resize keeps proportions."""


def write(
    network: Network, outputs: Sequence[str] | None = None, precision: Precision = "float32"
) -> WrittenGraph:
    """Write `network` with the tensors `outputs` (default: its own outputs) as graph outputs.

    Inputs and outputs are in stored order. Reads every weight; raises HexsimError for one that
    holds NaN or infinity.
    """
    imports = _imports(network)
    builder = GraphBuilder(network, precision, imports[""])
    builder.begin()
    for layer in network.layers:
        EMITTERS[type(layer)](layer, builder)
    names = network.outputs if outputs is None else outputs
    graph = onnx.helper.make_graph(
        builder.nodes,
        network.name or "network",
        [
            *(_value_info(network.tensors[name]) for name in network.inputs),
            *(_matrix_info(name, array) for name, array in builder.fed.items()),
        ],
        [_value_info(network.tensors[name]) for name in names],
        builder.initializers,
    )
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in imports.items()]
    ir_version = onnx.helper.find_min_ir_version_for(opsets, ignore_unknown=True)
    model = onnx.helper.make_model(
        graph, opset_imports=opsets, ir_version=ir_version, producer_name="hexsim"
    )
    return WrittenGraph(model, builder.weights, builder.fed)


def _imports(network: Network) -> dict[str, int]:
    """Return the lowest versions of the operator sets in which the opaque layers mean the same.

    onnxruntime may not yet support the versions of the file.
    """
    versions: dict[str, int] = {}
    for layer in network.layers:
        if isinstance(layer, Opaque):
            types = network.types_of(layer)
            for node in (as_run(node, types) for node in nodes_of(layer)):
                domain = standard_domain(node.domain)
                lowest = 1 if domain == EXTENSIONS else lowest_opset(node, layer.opset)
                if not domain:
                    lowest = max(lowest, min(layer.opset, DEFAULT_OPSET))
                versions[domain] = max(lowest, versions.get(domain, 1))
        elif isinstance(layer, Resize) and layer.aspect != "stretch":
            versions[""] = max(_FIRST_WITH_ASPECT, versions.get("", 1))
    standard = max(versions.pop("", DEFAULT_OPSET), _OLDEST_OPSET)
    return {"": standard, **versions}


def _value_info(tensor: Tensor) -> onnx.ValueInfoProto:
    element_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(tensor.dtype))
    sizes = [None if axis in tensor.varies else size for axis, size in enumerate(tensor.shape)]
    return onnx.helper.make_tensor_value_info(tensor.name, element_type, sizes)


def _matrix_info(name: str, array: Array) -> onnx.ValueInfoProto:
    element_type = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.helper.make_tensor_value_info(name, element_type, array.shape)
