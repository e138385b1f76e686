"""Histograms of the float values of the tensors with most error, beside their encodings.

These tensors are known only after the first pass over all inputs. So the values are counted in a
second pass, of the float network alone; counting every tensor in the first pass would take longer.
As in the first pass, the padding of the last input does not count.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hexsim.accuracy.items import unpadded
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.observation import Feed
from hexsim.accuracy.validation import counted
from hexsim.graph.ir import Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.histogram import Histogram

MOST = 8
"""Tensors that get a histogram, those with the lowest SQNR."""
BINS = 128
"""Largest number of bins of each histogram."""


@dataclass(frozen=True)
class Distribution:
    """A histogram of a tensor's float values, its encoding, and its `row` of the comparison."""

    row: LayerError
    encoding: Encoding
    histogram: Histogram


def distributions(
    network: Network,
    layers: Iterable[LayerError],
    inputs: Iterable[Feed],
    *,
    batch: int = 1,
    items: int | None = None,
    threads: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[Distribution, ...]:
    """Count the float values of the quantised tensors of `layers` with the lowest SQNR.

    `network` and the inputs are those of the comparison. The lowest SQNR comes first; tensors
    without any error are left out.
    """
    coded = [(row, row.encoding) for row in layers if row.encoding and math.isfinite(row.sqnr_db)]
    lowest = sorted(coded, key=lambda pair: pair[0].sqnr_db)[:MOST]
    if not lowest:
        return ()
    network_inputs = set(network.inputs)
    computed = [row.tensor for row, _ in lowest if row.tensor not in network_inputs]
    engine = FloatEngine(network, outputs=computed, threads=threads) if computed else None
    histograms: dict[str, Histogram] = {}
    for index, item in enumerate(counted(inputs, batch, items, None)):
        values = dict(item.feed) if engine is None else {**item.feed, **engine.run(item.feed)}
        values_of = unpadded(values, batch, item.items)
        for row, _ in lowest:
            histogram = Histogram.of(values_of[row.tensor])
            before = histograms.get(row.tensor)
            histograms[row.tensor] = histogram if before is None else before.joined(histogram)
        progress(index + 1)
    return tuple(
        Distribution(row, encoding, histograms[row.tensor].coarser(BINS))
        for row, encoding in lowest
    )
