"""The network while it is built: tensors, constants and layers so far."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, fields

from hexsim.graph.coded_end import CodedEnd
from hexsim.graph.ir import Constant, Layer, Tensor
from hexsim.onnx_io.file.axis_order import Order
from hexsim.onnx_io.file.known import Known
from hexsim.onnx_io.read.node_codes import NodeCodes


@dataclass(eq=False)
class NetworkState:
    """Tensors, known arrays, constants and layers so far.

    `codes` are the encodings that nodes of the file state, by tensor or array. `origins` maps
    arrays and constants to the arrays of the file that they rearrange. `stripped` are integers that
    were replaced: their float tensor and encoding. `moved` are the encodings of integers that are
    floats here until they are dequantised, `moved_types` their types in the file. `coded_ends` are
    inputs and outputs of the network that are codes in the file, `judged` the inputs that were
    checked for that.
    """

    known: dict[str, Known]
    tensors: dict[str, Tensor] = field(default_factory=dict)
    codes: dict[str, NodeCodes] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    stripped: dict[str, tuple[str, NodeCodes]] = field(default_factory=dict)
    moved: dict[str, NodeCodes] = field(default_factory=dict)
    moved_types: dict[str, str] = field(default_factory=dict)
    coded_ends: dict[str, CodedEnd] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)
    _producers: dict[str, Layer] = field(default_factory=dict)
    _layers: list[Layer] = field(default_factory=list)
    _constants: dict[str, Constant] = field(default_factory=dict)
    _forms: dict[tuple[str, str], str] = field(default_factory=dict)
    _reordered: dict[tuple[str, Order], str] = field(default_factory=dict)
    _aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _computed: int = 0

    def snapshot(self) -> NetworkState:
        """Return a copy that does not change with this one."""
        return NetworkState(*(copy(getattr(self, item.name)) for item in fields(NetworkState)))

    def restore(self, state: NetworkState) -> None:
        """Return to the contents of `state`, which must not be used afterwards."""
        for item in fields(NetworkState):
            setattr(self, item.name, getattr(state, item.name))
