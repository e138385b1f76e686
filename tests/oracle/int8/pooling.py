"""Max and average pooling as work for HVX programs."""

import numpy as np

from tests.oracle.int8.job import Job, images, span
from tests.oracle.int8.layout import SHEET, sheets, up, wrapped
from tests.oracle.int8.record import record


def max_pool(call, inputs):
    """2x2 and 3x3, stride 1 or 2, with equal encodings."""
    assert call.table is None
    window = call.window
    height, width = call.output.shape[1:3]
    rows = (height - 1) * window.strides[0] + window.kernel[0]
    columns = up(width, 4) * window.strides[0] + 4
    records = []
    for image in inputs[0]:
        x = sheets(image, rows, columns, window.pads[:2], 0)
        arguments = [len(x), rows, columns, window.kernel[0], window.strides[0]]
        arguments += [height, up(width, 4)]
        result = len(x) * height * up(width, 4) * SHEET
        records.append(record([x], arguments, result))
    return Job("max_pool", records, images(call))


def average_pool(call, inputs):
    window, zero = call.window, call.inputs[0].zero_point
    size = call.output.shape[1:3]
    rows, columns = span(window, *size)
    entry = call.stage_of.reshape(-1)
    preload = wrapped(call.stage.preload[entry].astype(np.int64) - window.taps * zero)
    constants = [preload, call.stage.multiplier[entry], call.stage.shift[entry]]
    records = []
    for image in inputs[0]:
        x = sheets(image, rows, columns, window.pads[:2], zero)
        arguments = [len(x), rows, columns, *window.kernel, *window.strides, *window.dilations]
        arguments += [*size, call.stage.low, call.stage.high]
        records.append(record([x, *constants], arguments, len(x) * size[0] * size[1] * SHEET))
    return Job("average_pool", records, images(call))
