"""What executes: anything that maps input arrays to output arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hexsim.graph.ir import FloatArray


class SubnetExecutor(Protocol):
    """A subnet, or a whole plan, made ready to run."""

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs for `inputs`, arrays in stored order by tensor name."""
