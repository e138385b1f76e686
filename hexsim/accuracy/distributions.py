"""How the float values of the tensors that lose most lie beside what their codes can say.

Which tensors lose most is known when all inputs were seen. So the values are counted in a second
pass, of the float network alone; counting every tensor in the first would take longer. As in the
first, the padding of the last input does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hexsim.accuracy.items import unpadded
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.observation import Feed
from hexsim.accuracy.validation import counted
from hexsim.graph.ir import Network
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.histogram import Histogram

MOST = 8
"""Tensors that are counted, those with the lowest SQNR: what a reader looks at one by one."""
BINS = 128
"""Most bins that are kept of each."""


@dataclass(frozen=True)
class Distribution:
    """How often the float values of a tensor were seen, beside the encoding of its codes.

    `row` is what the comparison says of the tensor.
    """

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
    """Count the float values of the tensors of `layers` that are codes and lose most.

    `network` and the inputs are those of the comparison. The lowest SQNR comes first; tensors
    without any error are left out.
    """
    coded = [(row, row.encoding) for row in layers if row.encoding and math.isfinite(row.sqnr_db)]
    lowest = sorted(coded, key=lambda one: one[0].sqnr_db)[:MOST]
    if not lowest:
        return ()
    given = set(network.inputs)
    written = [row.tensor for row, _ in lowest if row.tensor not in given]
    engine = FloatEngine(network, outputs=written, threads=threads) if written else None
    found: dict[str, Histogram] = {}
    for index, one in enumerate(counted(inputs, batch, items, None)):
        values = dict(one.feed) if engine is None else {**one.feed, **engine.run(one.feed)}
        kept = unpadded(values, batch, one.items)
        for row, _ in lowest:
            seen = Histogram.of(kept[row.tensor])
            before = found.get(row.tensor)
            found[row.tensor] = seen if before is None else before.joined(seen)
        progress(index + 1)
    return tuple(
        Distribution(row, encoding, found[row.tensor].coarser(BINS)) for row, encoding in lowest
    )
