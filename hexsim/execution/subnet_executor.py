"""The protocols of executors: objects that map input arrays to output arrays."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from hexsim.graph.ir import FloatArray


class SubnetExecutor(Protocol):
    """A subnet, or a whole plan, made ready to run."""

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs for `inputs`, arrays in stored order by tensor name."""


class ListExecutor(Protocol):
    """A whole plan made ready to run on a list of inputs."""

    def run_each(
        self, feeds: Iterable[Mapping[str, FloatArray]]
    ) -> Iterator[dict[str, FloatArray]]:
        """Yield the outputs for each of `feeds`, in their order; some feeds are read ahead."""
