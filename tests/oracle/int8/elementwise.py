"""Sum and product as work for one HVX program."""

import numpy as np

from tests.oracle.int8.job import Job
from tests.oracle.int8.layout import up
from tests.oracle.int8.record import VECTOR, record


def weighted_sum(call, inputs):
    spread = [np.broadcast_to(x, call.output.shape) for x in inputs]
    zeros = [x.zero_point for x in call.inputs]
    case = _elementwise(spread, zeros, call.stage, factors=call.factors)
    return Job("elementwise", [case], lambda results: _plain(results[0], call.output.shape))


def product(call, inputs):
    spread = [np.broadcast_to(x, call.output.shape) for x in inputs]
    case = _elementwise(spread, [x.zero_point for x in call.inputs], call.stage)
    return Job("elementwise", [case], lambda results: _plain(results[0], call.output.shape))


def _elementwise(operands, zeros, stage, factors=None):
    size = up(operands[0].size, VECTOR)
    sections = []
    for x in operands:
        flat = np.zeros(size, np.uint8)
        flat[: x.size] = x.reshape(-1)
        sections.append(flat)
    spare = [0] * (4 - len(operands))
    arguments = [size // VECTOR, len(operands), int(factors is None)]
    arguments += [stage.preload[0], stage.multiplier[0], stage.shift[0], stage.low, stage.high]
    arguments += [*zeros, *spare, *(factors if factors is not None else [])]
    return record(sections, arguments, size)


def _plain(data, shape):
    return np.frombuffer(data, np.uint8)[: int(np.prod(shape))].reshape(shape)
