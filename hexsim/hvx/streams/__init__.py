"""The vector kernels as instruction streams, scheduled for a machine.

There is one file per kind of kernel. Each function emits the instructions of one kernel for a shape
class and returns a `Kernel`: its scheduled code and, as `cost`, the packet slots of a tile, a
row of tiles and a call, from which the blocking computes the cost of a layer. Schedules are cached
per machine and shape class.
"""

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._kernel import Kernel, LoopCost, Segment

__all__ = ["HvxMachine", "Kernel", "LoopCost", "Segment"]
