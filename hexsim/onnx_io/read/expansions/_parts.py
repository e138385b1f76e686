"""ExpansionNodes: the standard nodes that an expansion writes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from hexsim.onnx_io.file.node import OnnxNode

_FIRST_SPLIT_WITH_COUNT = 18
"""Opset from which a Split into equal parts states their number."""
_AXES_ARE_INPUTS = 18
"""Opset from which means have their axes as an input."""
_SUM_AXES_ARE_INPUTS = 13
"""Opset from which sums have their axes as an input."""


class ExpansionNodes:
    """Nodes written so far in place of `node`.

    The new node with the attributes of `node`, else the one that writes its output, gets its name.
    `opset` is the version of the standard operators, if that of `node` is another domain's.
    """

    def __init__(self, node: OnnxNode, opset: int | None = None) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._node = node
        self._opset = node.opset if opset is None else opset
        self._main: onnx.NodeProto | None = None

    def add(self, operator: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        """Add a node and return its output."""
        label = self._new(operator)
        return self._append(operator, inputs, label, domain, attributes)

    def copy(self, operator: str, inputs: Sequence[str], without: Sequence[str] = ()) -> str:
        """Add `operator` with the attributes of the node, except for `without`."""
        output = self.add(operator, inputs)
        attributes = self._node.proto.attribute
        self._main = self.nodes[-1]
        self._main.attribute.extend(item for item in attributes if item.name not in without)
        return output

    def split(self, name: str, count: int) -> list[str]:
        """Add the Split of the last axis into equal parts, and return them."""
        takes_count = self._opset >= _FIRST_SPLIT_WITH_COUNT
        counts: dict[str, Any] = {"num_outputs": count} if takes_count else {}
        output = self.add("Split", [name], axis=-1, **counts)
        self.nodes[-1].output.extend(f"{output}_{number}" for number in range(1, count))
        return list(self.nodes[-1].output)

    def split_into(self, name: str, sizes: Sequence[int]) -> list[str]:
        """Add the Split of the last axis into parts of these sizes, and return them."""
        if self._opset >= _SUM_AXES_ARE_INPUTS:
            output = self.add("Split", [name, self.constant([*sizes], "int64")], axis=-1)
        else:
            output = self.add("Split", [name], axis=-1, split=[*sizes])
        self.nodes[-1].output.extend(f"{output}_{number}" for number in range(1, len(sizes)))
        return list(self.nodes[-1].output)

    def mean(self, name: str) -> str:
        """Add the mean along the last axis, which is not removed."""
        if self._opset >= _AXES_ARE_INPUTS:
            return self.add("ReduceMean", [name, self.constant([-1], "int64")], keepdims=1)
        return self.add("ReduceMean", [name], axes=[-1], keepdims=1)

    def sum(self, name: str, axes: Sequence[int]) -> str:
        """Add the sum along `axes`, which are removed."""
        if self._opset >= _SUM_AXES_ARE_INPUTS:
            return self.add("ReduceSum", [name, self.constant(axes, "int64")], keepdims=0)
        return self.add("ReduceSum", [name], axes=list(axes), keepdims=0)

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """Add the Reshape to `shape`."""
        return self.add("Reshape", [name, self.constant(shape, "int64")])

    def slice(self, name: str, start: int, end: int, axis: int) -> str:
        """Add the Slice from `start` to `end` along one axis."""
        places = [self.constant([place], "int64") for place in (start, end, axis)]
        return self.add("Slice", [name, *places])

    def hand_out(self, result: str, position: int) -> None:
        """Make the tensor `result` the node's output at `position`, if it has one."""
        output = self._node.outputs[position] if position < len(self._node.outputs) else ""
        if output:
            self._rename(result, output)

    def constant(self, value: npt.ArrayLike, dtype: str = "float32", output: str = "") -> str:
        """Add an array and return its name."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype))
        label = output or self._new("constant")
        return self._append("Constant", [], label, "", {"value": tensor})

    def finish(self, result: str) -> list[onnx.NodeProto]:
        """Make the tensor `result` the node's first output, and return all nodes."""
        writer = next(node for node in self.nodes if result in node.output)
        (self._main or writer).name = self._node.name
        self._rename(result, self._node.output)
        return self.nodes

    def _rename(self, old_name: str, new_name: str) -> None:
        for node in self.nodes:
            node.output[:] = [new_name if name == old_name else name for name in node.output]
            node.input[:] = [new_name if name == old_name else name for name in node.input]

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
