"""The kernel of last resort: scalar C loops, one output at a time.

Hexagon NN has nothing else for depthwise filters that are not 3x3 (5xN, 7xN) or whose depth is not
a multiple of 32, and for deconvolutions with a large stride. The loop is as a compiler leaves it:
not pipelined, two loads, two zero points, one multiply-add.
"""

from __future__ import annotations

from functools import lru_cache

from hexsim.hvx.isa import Machine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import Kernel, Stretch
from hexsim.hvx.streams._stream import Stream

BOUNDS = 6  # comparisons of a window position with the borders of the image, per output


@lru_cache(maxsize=16)
def multiply_add(machine: Machine) -> Kernel:
    """One multiply-add of two codes as tile; the rest of an output as row."""
    s, tail = Stream(), Stream()
    s("r.loadub.step", "x", "x_in")
    s("r.loadub", "w", "w_in", imm=1)
    s("r.sub", "x_real", "x", "x_zero")
    s("r.sub", "w_real", "w", "w_zero")
    s("r.mac", "sum", "x_real", "w_real")
    for k in range(BOUNDS):
        tail("r.add", f"edge{k}", f"base{k // 2}", f"step{k // 2}")
        tail("r.gt", f"outside{k % 2}", f"edge{k}", imm=0)
        tail("jump.if", "", f"outside{k % 2}")
    tail("r.mpyi", "index", "edge0", "pitch")
    tail("r.add", "x_in", "index", "image")
    tail("r.mpyi", "scaled", "sum", "multiplier")
    tail("r.lsr", "code", "scaled", imm=16)
    tail("r.add", "placed", "code", "zero")
    tail("r.max", "above", "placed", "low")
    tail("r.min", "clamped", "above", "high")
    tail("r.storeb", "", "out", "clamped", imm=1)
    body, rest = straight(machine, s.insns), straight(machine, tail.insns)
    return Kernel(
        "reference",
        machine,
        (Stretch("multiply-add", body, 1, body.length),),
        (Stretch("output", rest, 1, rest.length),),
        pixels=1,
    )
