"""Sum, product and concat as work for one HVX program."""

import numpy as np

from hexsim.lowering.requantize import common_scale, requantize
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


def concat(call, inputs):
    """Inputs whose encoding differs are rescaled: sums of one operand."""
    cases = []
    for operand, x, table in zip(call.inputs, inputs, call.tables, strict=True):
        if table is not None:
            factors, step = common_scale([operand.delta], call.output.encoding)
            stage = requantize(step, call.output.encoding)
            cases.append(_elementwise([x], [operand.zero_point], stage, factors=factors))

    def codes(results):
        made = iter(results)
        parts = [
            x if table is None else _plain(next(made), x.shape)
            for x, table in zip(inputs, call.tables, strict=True)
        ]
        return np.concatenate(parts, axis=call.axis)

    return Job("elementwise", cases, codes)


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
