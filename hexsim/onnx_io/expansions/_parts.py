"""Parts: the standard nodes that an expansion writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from hexsim.onnx_io.node import Node


class Parts:
    """Nodes written so far in place of `node`.

    Its name goes to the operator that has its attributes, else to the one that writes its output.
    """

    def __init__(self, node: Node) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._node = node
        self._main: onnx.NodeProto | None = None

    def add(self, operator: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        """Add a node and return its output."""
        label = self._new(operator)
        return self._append(operator, inputs, label, domain, attributes)

    def copy(self, operator: str, inputs: Sequence[str], without: Sequence[str] = ()) -> str:
        """Add `operator` with the attributes of the node but those named."""
        output = self.add(operator, inputs)
        own = self._node.proto.attribute
        self._main = self.nodes[-1]
        self._main.attribute.extend(one for one in own if one.name not in without)
        return output

    def constant(self, value: npt.ArrayLike, dtype: str = "float32", output: str = "") -> str:
        """Add an array and return its name."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype))
        label = output or self._new("constant")
        return self._append("Constant", [], label, "", {"value": tensor})

    def finish(self, result: str) -> list[onnx.NodeProto]:
        """Let the tensor `result` be the node's first output, and return all nodes."""
        last = next(node for node in self.nodes if result in node.output)
        (self._main or last).name = self._node.name
        for node in self.nodes:
            node.output[:] = [self._node.output if n == result else n for n in node.output]
            node.input[:] = [self._node.output if n == result else n for n in node.input]
        return self.nodes

    def _append(
        self,
        operator: str,
        inputs: Sequence[str],
        output: str,
        domain: str,
        attributes: dict[str, Any],
    ) -> str:
        node = helper.make_node(
            operator, inputs, [output], name=output, domain=domain, **attributes
        )
        self.nodes.append(node)
        return output

    def _new(self, hint: str) -> str:
        return f"{self._node.name}.{hint.lower()}_{len(self.nodes)}"
