"""Convert: from one width of codes to another, over the same range."""

import math

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._per_vector import per_vector_stage
from hexsim.hvx.kernels._sixteen_bit import is_16bit
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import PIXELS
from hexsim.hvx.streams import Kernel, halfwords
from hexsim.layers import Convert
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the direction."""
    return ((halfwords.widen if is_16bit(call) else halfwords.narrow)(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the workers; an image of up to four channels is flat."""
    (kernel,) = streams(call, target)
    shape = call.results[0]
    if as_nhwc(shape)[3] <= PIXELS:
        shape = (math.prod(shape),)
    stage = per_vector_stage(shape, kernel.cost, target.workers, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel")


MODELS: Models = {Convert: KernelModel(streams, work, takes_16_bits=True)}
