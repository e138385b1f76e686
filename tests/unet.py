"""A small U-Net as an ONNX model, with seeded weights: every form of growing an image again.

Three levels, 1x3x48x32 in, five classes per pixel out. The way up is a 2x2 deconvolution with a
batch norm behind it, a 4x4 one, a bilinear resize and a nearest one.
"""

import numpy as np
import onnx
from onnx import helper

from tests.conftest import make_model

SIZE = (1, 3, 48, 32)


def unet() -> onnx.ModelProto:
    """The model; its layers are called by what they do."""
    rng = np.random.default_rng(5)
    nodes: list[onnx.NodeProto] = []
    weights: dict[str, np.ndarray] = {}

    def add(op: str, name: str, *inputs: str, **attributes: object) -> str:
        nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def scaled(name: str, *shape: int, fan_in: int) -> str:
        weights[name] = (rng.standard_normal(shape) * (2 / fan_in) ** 0.5).astype(np.float32)
        return name

    def offsets(name: str, size: int) -> str:
        weights[name] = rng.uniform(-0.1, 0.3, size).astype(np.float32)
        return name

    def conv(x: str, name: str, inputs: int, outputs: int, kernel: int = 3) -> str:
        weight = scaled(f"{name}.w", outputs, inputs, kernel, kernel, fan_in=inputs * kernel**2)
        bias = offsets(f"{name}.b", outputs)
        return add("Conv", name, x, weight, bias, pads=[kernel // 2] * 4)

    def up(x: str, name: str, inputs: int, outputs: int, kernel: int, pad: int) -> str:
        taps = kernel**2 // 4
        weight = scaled(f"{name}.w", inputs, outputs, kernel, kernel, fan_in=inputs * taps)
        bias = offsets(f"{name}.b", outputs)
        return add("ConvTranspose", name, x, weight, bias, strides=[2, 2], pads=[pad] * 4)

    def scales(name: str, scale: float) -> str:
        weights[name] = np.array([1, 1, scale, scale], np.float32)
        return name

    high = add("Relu", "high", conv("image", "conv_high", 3, 16))
    half = add("MaxPool", "pool_high", high, kernel_shape=[2, 2], strides=[2, 2])
    middle = add("Relu", "middle", conv(half, "conv_middle", 16, 32))
    quarter = add("MaxPool", "pool_middle", middle, kernel_shape=[2, 2], strides=[2, 2])
    low = add("Relu", "low", conv(quarter, "conv_low", 32, 48))

    grown = up(low, "up_low", 48, 32, 2, 0)
    for part, mean in (("scale", 1.0), ("shift", 0.1), ("mean", 0.0), ("variance", 1.0)):
        weights[f"norm.{part}"] = (mean + rng.uniform(0, 0.3, 32)).astype(np.float32)
    names = [f"norm.{part}" for part in ("scale", "shift", "mean", "variance")]
    grown = add("Relu", "grown", add("BatchNormalization", "norm", grown, *names))
    joined = add("Concat", "join_middle", grown, middle, axis=1)
    mixed = add("Relu", "mixed", conv(joined, "conv_mixed", 64, 32))

    learnt = up(mixed, "up_mixed", 32, 16, 4, 1)
    smooth = add(
        "Resize", "smooth", mixed, "", scales("twice", 2.0), mode="linear",
        coordinate_transformation_mode="half_pixel",
    )  # fmt: skip
    blocks = add(
        "Resize", "blocks", low, "", scales("four times", 4.0), mode="nearest",
        coordinate_transformation_mode="asymmetric", nearest_mode="floor",
    )  # fmt: skip
    joined = add("Concat", "join_high", learnt, smooth, blocks, high, axis=1)
    last = add("Relu", "last", conv(joined, "conv_last", 16 + 32 + 48 + 16, 16))
    conv(last, "classes", 16, 5, 1)
    return make_model(nodes, {"image": SIZE}, ["classes"], weights)
