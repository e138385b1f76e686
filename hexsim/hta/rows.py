"""Rows of fully connected layers that are executions of the tensor engine of their own.

QNN 2.45 needs 637 ms for 1024 rows on a Snapdragon 865, or 0.62 ms a row, while a whole call for
one row with almost no arithmetic takes 0.54 ms. So each row is taken as a call (inferred): the way
to the DSP and back, the start of the graph, the hand-over to the engine and the start of the layer.
"""

from collections.abc import Iterable

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Profile, Stack
from hexsim.host.entry import empty_call_s
from hexsim.layers import FullyConnected
from hexsim.planning.plan import KernelCall


def further_rows_s(
    calls: Iterable[KernelCall], chip: Chip, stack: Stack, profile: Profile
) -> float:
    """Return the seconds of a subnet's executions after the first; zero if rows run together."""
    rules = stack.partitioning
    if rules.hta_rows == "together":
        return 0.0
    rows = max((c.operands[0][0] for c in calls if isinstance(c.layer, FullyConnected)), default=1)
    execution_s = empty_call_s(chip, stack, profile) + rules.hta_subnet_s + rules.hta_layer_s
    return (rows - 1) * execution_s
