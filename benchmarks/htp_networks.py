"""Builds networks of htp_latency.csv from the public sources of their structure.

python -m benchmarks.htp_networks FOLDER    writes ffnet_40s.onnx and so on, beside the others

FOLDER is that of `benchmarks.htp_scoreboard`. Weights are constants: only the structure counts.
FFNet is that of Qualcomm-AI-research/FFNet, its modules ffnet_blocks and resnet, MediaPipe's are
those of zmurez/MediaPipePyTorch, YOLO's those of Ultralytics, recalled. Parameters are those that
are published (FFNet 13.9, 18.0, 27.5, 26.8 and 32.1 million, YOLO11n 2.62, YOLOv8n with masks
3.40), and FFNet has as many layers as were measured, if the image is normalised in the graph, which
the time of the large images needs as well. MediaPipe's have 3 to 11 layers more than were measured.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Pads = tuple[int, int, int, int]


class _Builder:
    """Nodes in order with the shapes of their results; each method adds a node."""

    def __init__(self, name: str, height: int, width: int) -> None:
        self.name = name
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shapes = {"input": [1, 3, height, width]}

    def node(self, kind: str, inputs: Sequence[str], shape: Sequence[int], **given: object) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name, **given))
        self.shapes[name] = list(shape)
        return name

    def constant(self, values: object, kind: str = "int64") -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def weight(self, *shape: int) -> str:
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.01])
        return self.node("ConstantOfShape", [self.constant(shape)], shape, value=value)

    def conv(
        self,
        x: str,
        outputs: int,
        size: int = 1,
        step: int = 1,
        *,
        groups: int = 1,
        pads: Pads | None = None,
    ) -> str:
        _, inputs, height, width = self.shapes[x]
        top, left, bottom, right = pads or (size // 2,) * 4
        shape = (
            1,
            outputs,
            (height + top + bottom - size) // step + 1,
            (width + left + right - size) // step + 1,
        )
        weight = self.weight(outputs, inputs // groups, size, size)
        given = {"pads": [top, left, bottom, right], "group": groups, "strides": [step] * 2}
        return self.node("Conv", [x, weight, self.weight(outputs)], shape, **given)

    def deconv(self, x: str, outputs: int) -> str:
        _, inputs, height, width = self.shapes[x]
        weights = [self.weight(inputs, outputs, 2, 2), self.weight(outputs)]
        shape = (1, outputs, 2 * height, 2 * width)
        return self.node("ConvTranspose", [x, *weights], shape, strides=[2, 2])

    def same(self, kind: str, *inputs: str, **given: object) -> str:
        return self.node(kind, inputs, self.shapes[inputs[0]], **given)

    def relu(self, x: str) -> str:
        return self.same("Relu", x)

    def prelu(self, x: str) -> str:
        return self.same("PRelu", x, self.weight(self.shapes[x][1], 1, 1))

    def silu(self, x: str) -> str:
        return self.same("Mul", x, self.same("Sigmoid", x))

    def pool(self, x: str, size: int, step: int, pad: int = 0) -> str:
        shape = [
            *self.shapes[x][:2],
            *((n + 2 * pad - size) // step + 1 for n in self.shapes[x][2:]),
        ]
        given = {"kernel_shape": [size] * 2, "strides": [step] * 2, "pads": [pad] * 4}
        return self.node("MaxPool", [x], shape, **given)

    def enlarged(self, x: str, like: str) -> str:
        shape = [*self.shapes[x][:2], *self.shapes[like][2:]]
        given = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        return self.node("Resize", [x, "", "", self.constant(shape)], shape, **given)

    def joined(self, *parts: str, axis: int = 1) -> str:
        shape = list(self.shapes[parts[0]])
        shape[axis] = sum(self.shapes[part][axis] for part in parts)
        return self.node("Concat", parts, shape, axis=axis)

    def padded(self, x: str, pads: Sequence[int], mode: str = "constant") -> str:
        ends = zip(self.shapes[x], pads[:4], pads[4:], strict=True)
        return self.node("Pad", [x, self.constant(pads)], [sum(end) for end in ends], mode=mode)

    def reshaped(self, x: str, *shape: int) -> str:
        return self.node("Reshape", [x, self.constant(shape)], shape)

    def turned(self, x: str, *order: int) -> str:
        return self.node("Transpose", [x], [self.shapes[x][axis] for axis in order], perm=order)

    def parts(self, x: str, *sizes: int, axis: int = 1) -> list[str]:
        name = f"split_{len(self.nodes)}"
        names = [f"{name}_{at}" for at in range(len(sizes))]
        node = helper.make_node("Split", [x, self.constant(sizes)], names, name, axis=axis)
        self.nodes.append(node)
        for part, size in zip(names, sizes, strict=True):
            self.shapes[part] = list(self.shapes[x])
            self.shapes[part][axis] = size
        return names

    def save(self, folder: Path, *outputs: str) -> None:
        kinds = {n.output[0]: n.op_type for n in self.nodes}
        info = [
            helper.make_tensor_value_info(
                name,
                TensorProto.INT64 if kinds[name] == "ArgMax" else TensorProto.FLOAT,
                self.shapes[name],
            )
            for name in outputs
        ]
        source = helper.make_tensor_value_info("input", TensorProto.FLOAT, self.shapes["input"])
        graph = helper.make_graph(self.nodes, self.name, [source], info, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, str(folder / f"{self.name}.onnx"))


def _ffnet(
    folder: Path, name: str, depths: Sequence[int], *, low: bool = False, narrow: bool = False
) -> None:
    """FFNet of 1024 x 2048 pixels, or `low` of 512 x 1024, which it halves first."""
    net = _Builder(name, *((512, 1024) if low else (1024, 2048)))

    def block(x: str, outputs: int, step: int) -> str:
        y = net.conv(net.relu(net.conv(x, outputs, 3, step)), outputs, 3)
        if step != 1 or net.shapes[x][1] != outputs:
            x = net.conv(x, outputs, 1, step)
        return net.relu(net.same("Add", x, y))

    def unit(x: str, outputs: int, size: int, step: int = 1) -> str:
        return net.relu(net.conv(x, outputs, size, step))

    x = net.same("Sub", "input", net.weight(1, 3, 1, 1))
    x = net.same("Div", x, net.weight(1, 3, 1, 1))
    if low:
        x = net.padded(x, (0, 0, 1, 0, 0, 0, 1, 0), "reflect")
        x = net.conv(x, 3, 5, 2, groups=3, pads=(1, 2, 1, 2))
    x = unit(unit(x, 64 if narrow else 32, 3, 2), 64, 3, 2)
    levels = [unit(x, 64, 3)] if narrow else []
    widths = (64, 128, 256) if narrow else (64, 128, 192, 320)
    for outputs, depth in zip(widths, depths, strict=True):
        step = 1 if low and not narrow and outputs == widths[0] else 2
        for number in range(depth):
            x = block(x, outputs, 1 if number else step)
        levels.append(x)
    inner, outer = (
        ((128,) * 4, (128, 16, 16, 16)) if low else ((64, 128, 128, 256), (96, 96, 64, 32))
    )
    levels = [unit(level, width, 1) for level, width in zip(levels, inner, strict=True)]
    x = levels[3]
    maps = [unit(x, outer[3], 3)]
    for at in (2, 1, 0):
        x = net.enlarged(unit(x, inner[at], 1), levels[at])
        x = net.same("Add", x, levels[at])
        maps.insert(0, unit(x, outer[at], 3))
    x = maps[0]
    for smaller in maps[1:]:
        x = net.joined(x, net.enlarged(smaller, x))
    net.save(folder, net.conv(unit(x, 128, 3), 19) if low else net.conv(unit(x, 256, 3), 19, 3))


def _blaze(
    net: _Builder, x: str, outputs: int, size: int = 3, step: int = 1, *, act: str = "Relu"
) -> str:
    """A block of MediaPipe: depthwise and 1x1, beside a shortcut."""
    inputs, y, pads = net.shapes[x][1], x, None
    if step == 2:
        low = 0 if size == 3 else 1
        y, pads = net.padded(x, (0, 0, low, low, 0, 0, 2, 2)), (0, 0, 0, 0)
        x = net.pool(x, 2, 2)
    y = net.conv(net.conv(y, inputs, size, step, groups=inputs, pads=pads), outputs)
    if size == 5 and outputs > inputs:
        x = net.conv(x, outputs)
    elif outputs > inputs:
        x = net.padded(x, (0, 0, 0, 0, 0, outputs - inputs, 0, 0))
    return net.relu(net.same("Add", y, x)) if act == "Relu" else net.prelu(net.same("Add", y, x))


def _anchored(
    net: _Builder, folder: Path, maps: Sequence[str], boxes: Sequence[int], values: int
) -> None:
    """Scores and boxes of the anchors of each map."""
    rows = []
    for of_each in (values, 1):
        parts = []
        for source, count in zip(maps, boxes, strict=True):
            y = net.turned(net.conv(source, count * of_each), 0, 2, 3, 1)
            _, height, width, _ = net.shapes[y]
            parts.append(net.reshaped(y, 1, height * width * count, of_each))
        rows.append(net.joined(*parts, axis=1))
    net.save(folder, *rows)


def _mediapipe(folder: Path) -> None:
    net = _Builder("mediapipe_pose_PoseDetector", 128, 128)
    x = net.relu(net.conv("input", 48, 5))
    for inputs, outputs, count in ((48, 64, 3), (64, 96, 3), (96, 128, 6), (128, 256, 7)):
        for _ in range(count):
            x = _blaze(net, x, inputs, 5)
        middle, x = x, _blaze(net, x, outputs, 5, 2)
    for _ in range(6):
        x = _blaze(net, x, 256, 5)
    _anchored(net, folder, (middle, x), (2, 6), 12)

    net = _Builder("mediapipe_hand_HandDetector", 256, 256)
    x = net.conv(net.padded("input", (0, 0, 0, 0, 0, 0, 1, 1)), 32, 3, 2, pads=(0, 0, 0, 0))
    x, levels = net.relu(x), []
    for outputs in (32, 64, 128, 256, 256):
        x = x if outputs == 32 else _blaze(net, x, outputs, 3, 2)
        for _ in range(7):
            x = _blaze(net, x, outputs)
        levels.append(x)
    *_, low, middle, high = levels
    middle = _blaze(net, net.same("Add", middle, net.relu(net.deconv(high, 256))), 256)
    low = _blaze(net, net.same("Add", low, net.relu(net.deconv(middle, 128))), 128)
    _anchored(net, folder, (low, middle, high), (2, 2, 6), 18)

    net = _Builder("mediapipe_face_FaceLandmarkDetector", 192, 192)
    x = net.conv(net.padded("input", (0, 0, 0, 0, 0, 0, 1, 1)), 16, 3, 2, pads=(0, 0, 0, 0))
    x = net.prelu(x)
    for inputs, outputs in ((16, 32), (32, 64), (64, 128), (128, 128), (128, 0)):
        for _ in range(2):
            x = _blaze(net, x, inputs, act="PRelu")
        x = _blaze(net, x, outputs, 3, 2, act="PRelu") if outputs else x
    heads = []
    for outputs, more in ((1404, 2), (1, 0)):
        y = _blaze(net, x, 128, 3, 2, act="PRelu")
        for _ in range(more):
            y = _blaze(net, y, 128, act="PRelu")
        y = _blaze(net, net.prelu(net.conv(y, 32)), 32, act="PRelu")
        heads.append(net.conv(y, outputs, 3, pads=(0, 0, 0, 0)))
    points = net.same("Div", net.reshaped(heads[0], 1, 468, 3), net.constant(192, "float32"))
    net.save(folder, points, net.reshaped(net.same("Sigmoid", heads[1]), 1))


class _Yolo(_Builder):
    """The blocks of YOLO, version 8 or 11, in the smallest size, for 640 x 640 pixels."""

    def __init__(self, name: str, version: int) -> None:
        super().__init__(name, 640, 640)
        self.version = version

    def unit(self, x: str, outputs: int, size: int = 1, step: int = 1, groups: int = 1) -> str:
        return self.silu(self.conv(x, outputs, size, step, groups=groups))

    def bottleneck(self, x: str, outputs: int, inner: int, *, shortcut: bool) -> str:
        y = self.unit(self.unit(x, inner, 3), outputs, 3)
        return self.same("Add", x, y) if shortcut else y

    def nested(self, x: str, outputs: int) -> str:
        half = outputs // 2
        y = self.unit(x, half)
        for _ in range(2):
            y = self.bottleneck(y, half, half, shortcut=True)
        return self.unit(self.joined(y, self.unit(x, half)), outputs)

    def stage(self, x: str, outputs: int, depth: int = 1, *, back: bool, deep: bool = False) -> str:
        """The C2f of version 8 and the C3k2 of version 11; `back` is one of the backbone."""
        old = self.version == 8
        half = outputs // (4 if back and not old and not deep else 2)
        parts = self.parts(self.unit(x, 2 * half), half, half)
        for _ in range(depth):
            last = parts[-1]
            if deep and not old:
                parts.append(self.nested(last, half))
            else:
                inner, shortcut = half if old else half // 2, back or not old
                parts.append(self.bottleneck(last, half, inner, shortcut=shortcut))
        return self.unit(self.joined(*parts), outputs)

    def pyramid(self, x: str) -> str:
        parts = [self.unit(x, 128)]
        for _ in range(3):
            parts.append(self.pool(parts[-1], 5, 1, 2))
        return self.unit(self.joined(*parts), 256)

    def attention(self, x: str) -> str:
        kept, x = self.parts(self.unit(x, 256), 128, 128)
        heads = self.reshaped(self.conv(x, 256), 1, 2, 128, 400)
        query, key, value = self.parts(heads, 32, 32, 64, axis=2)
        scores = self.node("MatMul", [self.turned(query, 0, 1, 3, 2), key], (1, 2, 400, 400))
        scores = self.same("Mul", scores, self.constant(32**-0.5, "float32"))
        weights = self.turned(self.same("Softmax", scores, axis=-1), 0, 1, 3, 2)
        y = self.reshaped(self.node("MatMul", [value, weights], (1, 2, 64, 400)), 1, 128, 20, 20)
        places = self.conv(self.reshaped(value, 1, 128, 20, 20), 128, 3, groups=128)
        x = self.same("Add", x, self.conv(self.same("Add", y, places), 128))
        x = self.same("Add", x, self.conv(self.unit(x, 256), 128))
        return self.unit(self.joined(kept, x), 256)

    def maps(self) -> list[str]:
        """Three maps of features: of 80, 40 and 20 pixels a side."""
        old = self.version == 8
        x = self.unit(self.unit("input", 16, 3, 2), 32, 3, 2)
        x = self.stage(x, 32 if old else 64, back=True)
        fine = self.stage(self.unit(x, 64, 3, 2), 64 if old else 128, 1 + old, back=True)
        x = self.unit(fine, 128, 3, 2)
        middle = self.stage(x, 128, 1 + old, back=True, deep=True)
        x = self.stage(self.unit(middle, 256, 3, 2), 256, back=True, deep=True)
        coarse = self.pyramid(x) if old else self.attention(self.pyramid(x))
        up = self.stage(self.joined(self.enlarged(coarse, middle), middle), 128, back=False)
        first = self.stage(self.joined(self.enlarged(up, fine), fine), 64, back=False)
        second = self.stage(self.joined(self.unit(first, 64, 3, 2), up), 128, back=False)
        x = self.joined(self.unit(second, 128, 3, 2), coarse)
        return [first, second, self.stage(x, 256, back=False, deep=True)]

    def decoded(self, maps: Sequence[str]) -> list[str]:
        """Corners of boxes, best scores and best classes, which the measured graph computes."""
        sides, scores = [], []
        for x in maps:
            sides.append(self.flat(self.conv(self.unit(self.unit(x, 64, 3), 64, 3), 64)))
            if self.version == 8:
                y = self.unit(self.unit(x, 80, 3), 80, 3)
            else:
                inputs = self.shapes[x][1]
                y = self.unit(self.unit(x, inputs, 3, groups=inputs), 80)
                y = self.unit(self.unit(y, 80, 3, groups=80), 80)
            scores.append(self.flat(self.conv(y, 80)))
        all_scores = self.same("Sigmoid", self.joined(*scores, axis=2))
        x = self.turned(self.reshaped(self.joined(*sides, axis=2), 1, 4, 16, 8400), 0, 2, 1, 3)
        x = self.reshaped(self.conv(self.same("Softmax", x, axis=1), 1), 1, 4, 8400)
        anchors = self.constant(np.zeros((1, 2, 8400)), "float32")
        left, right = self.parts(x, 2, 2)
        start, end = self.same("Sub", left, anchors), self.same("Add", right, anchors)
        two = self.constant(2, "float32")
        center = self.same("Div", self.same("Add", start, end), two)
        x = self.joined(center, self.same("Sub", end, start))
        x = self.same("Mul", x, self.constant(np.ones((1, 1, 8400)), "float32"))
        center, size = self.parts(self.turned(x, 0, 2, 1), 2, 2, axis=2)
        half = self.same("Div", size, two)
        corners = [self.same("Sub", center, half), self.same("Add", center, half)]
        best = self.turned(all_scores, 0, 2, 1)
        return [
            self.joined(*corners, axis=2),
            self.node("ReduceMax", [best], (1, 8400), axes=[2], keepdims=0),
            self.node("ArgMax", [best], (1, 8400), axis=2, keepdims=0),
        ]

    def flat(self, x: str) -> str:
        _, channels, height, width = self.shapes[x]
        return self.reshaped(x, 1, channels, height * width)


def _yolo(folder: Path) -> None:
    net = _Yolo("yolov11_det", 11)
    net.save(folder, *net.decoded(net.maps()))
    net = _Yolo("yolov8_seg", 8)
    maps = net.maps()
    outputs = net.decoded(maps)
    large = net.deconv(net.unit(maps[0], 64, 3), 64)
    masks = [net.flat(net.conv(net.unit(net.unit(x, 32, 3), 32, 3), 32)) for x in maps]
    outputs += [net.turned(net.joined(*masks, axis=2), 0, 2, 1)]
    net.save(folder, *outputs, net.unit(net.unit(large, 64, 3), 32))


def main(folder: Path) -> None:
    """Write every network."""
    for name, depths in (("40s", (4, 5, 6, 4)), ("54s", (5, 8, 8, 5)), ("78s", (6, 12, 12, 8))):
        _ffnet(folder, f"ffnet_{name}", depths)
    _ffnet(folder, "ffnet_78s_lowres", (6, 12, 12, 8), low=True)
    _ffnet(folder, "ffnet_122ns_lowres", (16, 24, 20), low=True, narrow=True)
    _mediapipe(folder)
    _yolo(folder)


if __name__ == "__main__":
    if not (sys.argv[1:] and Path(sys.argv[1]).is_dir()):
        raise SystemExit("give the folder in which the networks are written")
    main(Path(sys.argv[1]))
