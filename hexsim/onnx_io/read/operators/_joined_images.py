"""Concatenates the images of a 3-D window along the depth in the channels.

The images of a 3-D tensor follow each other along the batch axis. A batch of one is processed as
images, whose first axis is the depth; for larger batches the depth is the second of five axes.
"""

from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Shape
from hexsim.layers import AxisSlice, ChannelShuffle, Concat, Pad, Reshape, StridedSlice, Window
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer


class JoinedImages:
    """The first input of `node` while it is transformed; `name` is the current tensor."""

    def __init__(self, node: OnnxNode, net: Importer) -> None:
        self._node, self._net = node, net
        self.batch, self._channels, self.depth, *self._size = net.source_shape(node.input(0))
        self.name = net.channels_last(node.input(0))
        self._axis = 0 if self.batch == 1 else 1
        self._taps = 1
        self._inner: tuple[AxisSlice, str] | None = None
        if self.batch == 1:
            self._as_images()

    def pad(self, begin: int, end: int) -> None:
        """Add images of zeros at both ends; negative numbers remove images."""
        kept_range = AxisSlice(self._axis, max(-begin, 0), self.depth - max(-end, 0))
        if kept_range.size < self.depth:
            self.name = self._slice(self.name, kept_range)
        if max(begin, end) > 0:
            inside = AxisSlice(self._axis, max(begin, 0), max(begin, 0) + kept_range.size)
            self._inner = (inside, self.name)
            self._pad(self._axis, max(begin, 0), max(end, 0))
        self.depth += begin + end

    def spread(self, stride: int) -> None:
        """Insert images of zeros, so that the distance between images is `stride`."""
        if stride == 1:
            return
        self._reshape((self.batch * self.depth, 1, *self._size, self._channels), "apart")
        self._pad(1, 0, stride - 1)
        self.depth *= stride
        if self.batch == 1:
            self._as_images()
        else:
            self._reshape((self.batch, self.depth, *self._size, self._channels), "spread")

    def take(self, window: Window) -> None:
        """Concatenate the images of each window along the depth; pads must be added before."""
        taps, step, dilation = window.kernel[0], window.strides[0], window.dilations[0]
        count = (self.depth - window.reach[0]) // step + 1
        if count < 1:
            raise InvalidDataError(f"a depth of {self.depth} is less than the window")
        parts = [
            AxisSlice(self._axis, tap * dilation, tap * dilation + (count - 1) * step + 1, step)
            for tap in range(taps)
        ]
        source = self.name
        names = [self._part(source, part) for part in parts]
        self.name = names[0]
        if taps > 1:
            rank = 4 + self._axis
            self._add(Concat, "joined", tuple(names), rank, axis=rank - 1)
        self._taps, self.depth = taps, count
        self._channels *= taps
        if self.batch > 1:
            self._as_images()

    def group(self, groups: int) -> None:
        """Reorder the channels so that those of each group are contiguous."""
        if groups > 1 and self._taps > 1:
            self._add(ChannelShuffle, "grouped", (self.name,), 4, groups=self._taps)

    def _as_images(self) -> None:
        self._reshape((self.batch * self.depth, *self._size, self._channels), "images")

    def _reshape(self, shape: Shape, role: str) -> None:
        self._add(Reshape, role, (self.name,), len(shape), shape=shape)

    def _pad(self, axis: int, begin: int, end: int) -> None:
        rank = len(self._net.tensor(self.name).shape)
        begins, ends = ([0] * rank for _ in range(2))
        begins[axis], ends[axis] = begin, end
        self._add(Pad, "padded", (self.name,), rank, begins=tuple(begins), ends=tuple(ends))

    def _part(self, source: str, part: AxisSlice) -> str:
        """Return the images of a part, which may be all images, or those before padding."""
        if part.size == self.depth:
            return source
        if self._inner is not None and self._inner[0] == part:
            return self._inner[1]
        return self._slice(source, part)

    def _slice(self, name: str, part: AxisSlice) -> str:
        previous = self.name
        self._add(StridedSlice, "part", (name,), 4 + self._axis, parts=(part,))
        self.name, sliced = previous, self.name
        return sliced

    def _add(
        self, kind: type[Layer], role: str, inputs: tuple[str, ...], rank: int, **attributes: Any
    ) -> None:
        label = self._net.unique(f"{self._node.name}.{role}")
        layer = kind(name=label, inputs=inputs, outputs=(label,), **attributes)
        self._net.add(layer, channels_last(rank))
        self.name = label
