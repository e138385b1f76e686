"""The items of a batch: which of them count, and the scores of each."""

from collections.abc import Iterable, Iterator, Mapping

from hexsim.graph.ir import FloatArray


def unpadded(values: Mapping[str, FloatArray], batch: int, count: int) -> Mapping[str, FloatArray]:
    """Return the first `count` items of every array that has `batch` of them."""
    if count == batch:
        return values
    return {n: a[:count] if a.ndim and a.shape[0] == batch else a for n, a in values.items()}


def unpadded_each(
    runs: Iterable[Mapping[str, FloatArray]], batch: int, items: int | None
) -> Iterator[Mapping[str, FloatArray]]:
    """Yield runs in order without the padding of the last one; without `items` all are full."""
    for index, values in enumerate(runs):
        count = batch if items is None else min(batch, items - index * batch)
        yield unpadded(values, batch, count)


def scores_of_items(scores: FloatArray, batch: int) -> Iterator[FloatArray]:
    """Yield the scores of each item; without batches all scores belong to one item."""
    if batch == 1:
        yield scores
    else:
        yield from scores
