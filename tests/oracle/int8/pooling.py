"""Max pooling as work for HVX programs."""

from tests.oracle.int8.job import Job, images
from tests.oracle.int8.layout import DEPTH_SLICE, depth_slices, up
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
        x = depth_slices(image, rows, columns, window.pads[:2], 0)
        arguments = [len(x), rows, columns, window.kernel[0], window.strides[0]]
        arguments += [height, up(width, 4)]
        result = len(x) * height * up(width, 4) * DEPTH_SLICE
        records.append(record([x], arguments, result))
    return Job("max_pool", records, images(call))
