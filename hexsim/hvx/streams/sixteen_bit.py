"""Loops over 16-bit codes: 64 of them, two pixels of 32 channels, are one vector.

Halfword multiplies are signed, so an exclusive or converts codes to signed numbers after loading
and back before storing. Sums and changes of encoding scale by a 16-bit fraction, as the 8-bit loops
of Hexagon NN do; there are no hand-written 16-bit loops to compare with.

Products multiply high and low bytes of activations separately, with two sets of accumulators
(computed operands: three). The requantise stage shifts the low ones right by eight bits,
requantises both with one rounding and packs halfwords. There are only forms of V66, because 16-bit
activations came with it. A Z dot uses all pipes and cannot take a second operand from Z, so a
convolution reads each weight vector twice; a fully connected layer multiplies both bytes by each.
"""

from functools import lru_cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.pipelining import pipelined
from hexsim.hvx.streams._code import listed, listed_code
from hexsim.hvx.streams._kernel import Kernel, call, pipelined_segments
from hexsim.hvx.streams.matrices import INPUTS

NOTE = "no hand-written loop is known"


@lru_cache(maxsize=1024)
def convolution(machine: HvxMachine, fw: int, depth_rows: int) -> Kernel:
    """Compute four pixels x 32 channels from byte planes in L2 and signed weights in VTCM.

    The loop over rows of taps runs once for each byte; a loop pass is one half tap of one row.
    """
    high, low = (listed_code("convolution_16bit", byte=byte) for byte in ("high", "low"))
    steps = 2 * fw * depth_rows
    of_high = pipelined(machine, high["loop"].insns, steps, high["between"].insns)
    of_low = pipelined(machine, low["loop"].insns, steps, low["after"].insns, low["before"].insns)
    return Kernel(
        "conv v66, 16 bits",
        machine,
        pipelined_segments("high bytes", of_high) + pipelined_segments("low bytes", of_low),
        call=call(machine),
        in_vtcm=frozenset({"high_weights", "low_weights"}),
        note=NOTE,
    )


def fully_connected(machine: HvxMachine, inputs: int) -> Kernel:
    """Compute 32 outputs of one item; every vector of weights is used twice."""
    return listed("fully_connected_16bit", machine, -(-inputs // INPUTS))


def product(machine: HvxMachine, depth: int) -> Kernel:
    """Multiply a row of one computed matrix by 32 columns of another, both as byte planes."""
    return listed("product_16bit", machine, -(-depth // INPUTS))
