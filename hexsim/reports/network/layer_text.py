"""Counts, shapes and encodings as snpe-dlc-info prints them."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from hexsim.dlc.inspection import LayerInfo
from hexsim.graph.ir import Shape
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.overrides.override import is_overridden


def dims(shape: Shape, varies: Sequence[int] = ()) -> str:
    """Return `1x224x224x3`, or `<=100x4` if the size of the first axis is an upper bound."""
    sizes = (f"<={size}" if axis in varies else f"{size}" for axis, size in enumerate(shape))
    return "x".join(sizes) or "scalar"


def output_dims(row: LayerInfo) -> list[str]:
    """Return the shapes of a row."""
    outputs = zip_longest(row.shapes, row.varies, fillvalue=())
    return [dims(shape, varies) for shape, varies in outputs]


def count(number: int) -> str:
    """Return the number, in whole thousands (`3k`) or millions (`3M`) if it is large enough."""
    if number < 1_000:
        return f"{number}"
    return f"{number // 1_000}k" if number < 1_000_000 else f"{number // 1_000_000}M"


def share(number: int, total: int) -> str:
    """Return a count and its share of `total`, to three digits: `3k (0.0483%)`."""
    return f"{count(number)} ({100 * number / total:.3g}%)"


def encoding_text(encoding: Encoding | AxisEncoding) -> str:
    """Return an encoding on one line; for one per channel, the ranges over the channels."""
    if isinstance(encoding, Encoding):
        offset = -encoding.zero_point
        return (
            f"min {encoding.min:.12f}, max {encoding.max:.12f}, delta {encoding.delta:.12f}, "
            f"offset {offset:.12f} bitwidth {encoding.bitwidth}"
        )
    low, high = min(c.min for c in encoding.channels), max(c.max for c in encoding.channels)
    deltas = encoding.deltas
    return (
        f"axis: last, num_elements: {len(encoding.channels)}, min {low:.12f}, max {high:.12f}, "
        f"delta {deltas.min():.12f} to {deltas.max():.12f}, offset {0:.12f} "
        f"bitwidth {encoding.bitwidth}"
    )


def parameter_lines(row: LayerInfo, total_params: int, total_macs: int) -> Iterator[str]:
    """Yield the lines of the column Parameters: attributes, counts that are not 0, encodings."""
    for name, value in row.attributes.items():
        yield f"{name}: {value}"
    if row.param_count:
        yield f"param count: {share(row.param_count, total_params)}"
    if row.macs:
        yield f"MACs per inference: {share(row.macs, total_macs)}"
    encodings = {
        role: encoding_text(
            encoding.as_float32() if is_overridden(row.origins.get(role)) else encoding
        )
        for role, encoding in row.encodings.items()
    }
    for role, text in {**encodings, **row.floats}.items():
        yield f"{role} encoding: {text}"
        if role in row.origins:
            yield f"{role} encoding from: {row.origins[role]}"
