"""The vector kernels as instruction streams, scheduled for a machine.

Kernels whose code is the same for every shape are listed in code.toml, and `listed` returns them.
For the others there is one file per kind: each function emits the instructions for a shape class
and returns a `Kernel`: its scheduled code and, as `cost`, the packet slots of a tile, a
row of tiles and a call, from which the blocking computes the cost of a layer. Schedules are cached
per machine and shape class.
"""

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._code import listed
from hexsim.hvx.streams._kernel import Kernel, LoopCost, Segment

__all__ = ["HvxMachine", "Kernel", "LoopCost", "Segment", "listed"]
