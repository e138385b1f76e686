"""Pooling: maximum or average; the last window may extend beyond the image."""

from typing import Any

from hexsim.frameworks.caffe.description import CaffeLayer
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.layers._shapes import image, require_counts, sliding


def pooling(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add MaxPool, AveragePool or their global forms.

    Sizes are rounded up unless `round_mode` is FLOOR. An average counts the padding, but not the
    pixels beyond it that rounding up adds.
    """
    require_counts(layer)
    fields = layer.fields.message("pooling_param")
    batch, channels, height, width = image(layer, net)
    kind = fields.value("pool", "MAX")
    if kind == "STOCHASTIC":
        raise layer.error("stochastic pooling is not supported; phones do not have it")
    average = kind == "AVE"
    rounds_up = fields.value("round_mode", "CEIL") == "CEIL"
    if fields.value("global_pooling", False):
        for name in ("kernel_size", "kernel_h", "kernel_w"):
            if fields.has(name):
                raise layer.error(f"a global pooling has no '{name}'")
        neutral = fields.value("stride", 1) == 1 and fields.value("pad", 0) == 0
        if not neutral:
            raise layer.error("a global pooling has a stride of 1 and no pads")
        op_type = "GlobalAveragePool" if average else "GlobalMaxPool"
        net.add(layer, op_type, layer.inputs, (batch, channels, 1, 1))
        return
    window = sliding(fields, dilated=False)
    sizes = []
    for size, kernel, stride, pad in zip(
        (height, width), window.kernel, window.strides, window.pads, strict=True
    ):
        if pad >= kernel:
            raise layer.error(f"its pads of {pad} are not smaller than its windows of {kernel}")
        room = size + 2 * pad - kernel
        if room < 0:
            raise layer.error(f"its window spans {kernel} pixels of {size} with pads of {pad}")
        count = (-(-room // stride) if rounds_up else room // stride) + 1
        if rounds_up and pad and (count - 1) * stride >= size + pad:
            count -= 1
        if (count - 1) * stride >= size + pad:
            raise layer.error("its last window begins beyond the image; use a smaller stride")
        sizes.append(count)
    average_attributes: dict[str, Any] = {"count_include_pad": 1} if average else {}
    net.add(
        layer,
        "AveragePool" if average else "MaxPool",
        layer.inputs,
        (batch, channels, *sizes),
        **window.attributes,
        ceil_mode=int(rounds_up),
        **average_attributes,
    )


TRANSLATORS = {"Pooling": pooling}
