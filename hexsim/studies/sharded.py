"""Validation by workers: inputs are divided among them; the result equals that of one process.

A worker gets the network once and reads the inputs of its part itself, so it must see their files.
Its results are small, and are added up here in the order of the inputs
(`hexsim.accuracy.observation`). Images never pass through the scheduler.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from hexsim.accuracy.observation import Labels, Observed, Observer, Totals
from hexsim.accuracy.validation import Validation, counted, validation_of
from hexsim.deployment import Deployment
from hexsim.graph.ir import Network
from hexsim.inputs.source import InputSource
from hexsim.studies.cluster import threads_of_worker
from hexsim.studies.pool import Pool, in_order, ranges

_LARGEST = 32
"""Largest number of inputs in a part: a second of a small network, lost when a worker dies."""
_PARTS = 4
"""Least number of parts for each worker, if there are enough inputs, so that all end together."""
_ONE_AT_A_TIME = threading.Lock()
"""Only one set of activations is in memory; a worker uses all its threads for it."""


@dataclass(frozen=True)
class _ShardedInputs:
    """The data that all parts share."""

    observer: Observer
    inputs: InputSource
    labels: Labels | None


def validate_sharded(
    pool: Pool,
    deployment: Deployment,
    inputs: InputSource,
    *,
    labels: Labels | None = None,
    threads: int = 0,
    original: Network | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Validation:
    """Do the same as `hexsim.accuracy.validation.validate` with the workers of `pool`.

    `threads` of a worker share the work of a layer, 0 for as many as the worker has. Raises
    HexsimError if a worker cannot read an input, or if workers die of some.
    """
    observer = Observer(deployment, inputs.batch, original, threads)
    shared = _ShardedInputs(observer, inputs.absolute(), labels)
    size = part_size(inputs.sets, max(1, pool.workers))
    totals = Totals(observer.paired)
    parts = pool.in_parts(_observe, shared, ranges(inputs.sets, size), "inputs")
    for part, observed in in_order(parts):
        totals.take(observed)
        progress(part.stop)
    return validation_of(deployment, totals, labelled=labels is not None)


def part_size(inputs: int, workers: int) -> int:
    """Return the number of inputs in a part."""
    return min(_LARGEST, max(1, inputs // (_PARTS * workers)))


def _observe(shared: _ShardedInputs, first: int, stop: int) -> Observed:
    """Observe a part; a worker runs this."""
    observer, inputs = shared.observer, shared.inputs
    feeds = inputs.feeds(first, stop)
    with _ONE_AT_A_TIME:
        observer.paired.threads = observer.paired.threads or threads_of_worker()
        return observer.observe(counted(feeds, inputs.batch, inputs.items, shared.labels, first))
