"""Tensors whose sizes values decide, while a file is read (hexsim.onnx_io.read.dynamic_shapes)."""

from __future__ import annotations

from dataclasses import dataclass, field

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.node_results import NodeInput
from hexsim.onnx_io.read.operator_work import OperatorWork


@dataclass(frozen=True)
class Unsized:
    """A tensor of a tail at its most, and with few elements if that can be told."""

    tail: int
    most: NodeInput
    few: NodeInput | None

    @property
    def varies(self) -> tuple[int, ...]:
        """Axes whose size values decide."""
        shape, other = self.most.shape, None if self.few is None else self.few.shape
        if other is None or len(other) != len(shape):
            return tuple(range(len(shape)))
        return tuple(axis for axis, size in enumerate(shape) if size != other[axis])


@dataclass
class DynamicShapes:
    """The tails of one graph: their nodes, the work of each, and the tensors these write.

    Where they are not `allowed`, such nodes are refused.
    """

    allowed: bool = True
    nodes: list[list[OnnxNode]] = field(default_factory=list)
    work: dict[str, OperatorWork] = field(default_factory=dict)
    tensors: dict[str, Unsized] = field(default_factory=dict)
