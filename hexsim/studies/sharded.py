"""Validation by workers: inputs are shared out, and the answer is that of one process, to the bit.

A worker gets the network once and reads the inputs of its part itself, so it must see their files.
What it returns is small, and is added up here in the order of the inputs
(`hexsim.accuracy.observation`). Pictures never pass through the scheduler.
"""

from __future__ import annotations

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
"""Inputs of a part at most: a second's work of a small network, which is what a death costs."""
_PARTS = 4
"""Parts for each worker at least, as far as there are inputs, so that all end together."""
_ONE_AT_A_TIME = threading.Lock()
"""One set of activations is in memory; a worker of several threads computes with all of them."""


@dataclass(frozen=True)
class _ShardedInputs:
    """What all parts share."""

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
    """What `hexsim.accuracy.validation.validate` says, found by the workers of `pool`.

    `threads` of a worker share the work of a layer, 0 for as many as the worker has. Raises
    HexsimError if an input cannot be read where a worker runs, or if workers die of some.
    """
    observer = Observer(deployment, inputs.batch, original, threads)
    asked = _ShardedInputs(observer, inputs.absolute(), labels)
    size = part_size(inputs.sets, max(1, pool.workers))
    totals = Totals(observer.paired)
    found = pool.in_parts(_observe, asked, ranges(inputs.sets, size), "inputs")
    for part, observed in in_order(found):
        totals.take(observed)
        progress(part.stop)
    return validation_of(deployment, totals, labelled=labels is not None)


def part_size(inputs: int, workers: int) -> int:
    """How many of so many inputs are a part for so many workers."""
    return min(_LARGEST, max(1, inputs // (_PARTS * workers)))


def _observe(asked: _ShardedInputs, first: int, stop: int) -> Observed:
    """What a worker does."""
    observer, inputs = asked.observer, asked.inputs
    feeds = inputs.feeds(first, stop)
    with _ONE_AT_A_TIME:
        observer.paired.threads = observer.paired.threads or threads_of_worker()
        return observer.observe(counted(feeds, inputs.batch, inputs.items, asked.labels, first))
