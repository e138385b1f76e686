"""Tensors whose sizes depend on values, as hexsim.onnx_io.read.dynamic_shapes collects them."""

from dataclasses import dataclass, field

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.node_results import NodeInput
from hexsim.onnx_io.read.operator_work import OperatorWork


@dataclass(frozen=True)
class Unsized:
    """A tensor of dynamic part number `part`, with most and, if known, with few elements."""

    part: int
    most: NodeInput
    few: NodeInput | None

    @property
    def varies(self) -> tuple[int, ...]:
        """Axes whose size depends on values."""
        shape, other = self.most.shape, None if self.few is None else self.few.shape
        if other is None or len(other) != len(shape):
            return tuple(range(len(shape)))
        return tuple(axis for axis, size in enumerate(shape) if size != other[axis])


@dataclass
class DynamicShapes:
    """The dynamic parts of one graph: their nodes, the work of each node, and their tensors.

    Unless `allowed`, such nodes are refused.
    """

    allowed: bool = True
    nodes: list[list[OnnxNode]] = field(default_factory=list)
    work: dict[str, OperatorWork] = field(default_factory=dict)
    tensors: dict[str, Unsized] = field(default_factory=dict)
