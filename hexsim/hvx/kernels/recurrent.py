"""Recurrent: one multiplication for the whole sequence, then steps, on one thread per direction.

The first matrix multiplication has a row for each step and item; all workers share its slices of 32
gates. The rest is a chain: each step multiplies the state by the recurrent weights and computes the
gates. The two directions are independent. The recurrent weights stay in L2 if they fit; otherwise
every step fetches them from DDR.

Left out: several threads could share the gates of one step, with a join in every step.
"""

from hexsim.hvx.kernels._blocking import loop_work, loops_work, row_stage
from hexsim.hvx.kernels._model import KernelMemory, KernelModel, Models, Target
from hexsim.hvx.kernels.matrices import matrix_rows
from hexsim.hvx.layout import DEPTH_SLICE, ceil_div, depth_slices
from hexsim.hvx.streams import Kernel, recurrent
from hexsim.layers import Recurrent
from hexsim.layers.recurrent import GATES
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Slice, Stage


def streams(call: KernelCall[Recurrent], target: Target) -> tuple[Kernel, ...]:
    """Return the multiplications of input and state, and the gates."""
    layer = call.layer
    return (
        *(kernel for kernel, _ in _of_input(call, target)),
        *(kernel for kernel, _ in _of_state(call, target)),
        recurrent.gates(target.machine, layer.cell),
    )


def _of_input(call: KernelCall[Recurrent], target: Target) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 gates of all steps and items."""
    steps, batch, inputs = call.operands[0]
    return matrix_rows(target.machine, inputs, steps * batch)


def _of_state(call: KernelCall[Recurrent], target: Target) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 gates of one step."""
    _, batch, _ = call.operands[0]
    return matrix_rows(target.machine, call.layer.hidden, batch)


def memory(call: KernelCall[Recurrent], target: Target) -> KernelMemory:
    """Return the bytes of recurrent weights in L2, packed with those of the input, in slices."""
    recurrence, inputs = _recurrence_bytes(call), call.operands[0][2]
    columns = depth_slices(call.layer.columns) * DEPTH_SLICE
    packed = recurrence + columns * ceil_div(inputs, 4) * 4
    return KernelMemory(min(recurrence, target.l2_bytes), packed)


def _recurrence_bytes(call: KernelCall[Recurrent]) -> int:
    """Return the bytes of the packed recurrent weights: whole slices of gates and of units."""
    layer = call.layer
    gates = depth_slices(GATES[layer.cell] * layer.hidden) * DEPTH_SLICE
    return layer.directions * gates * ceil_div(layer.hidden, 4) * 4


def work(call: KernelCall[Recurrent], target: Target, traffic: Traffic) -> NodeWork:
    """Return one stage for the input of all steps, one with a job for each direction."""
    layer = call.layer
    steps, batch, inputs = call.operands[0]
    of_input = loops_work(_of_input(call, target))
    read = traffic.read_bytes + inputs * layer.columns
    input_stage = row_stage(
        depth_slices(layer.columns), of_input, target.workers, Traffic(read), target
    )
    gate_count = GATES[layer.cell] * layer.hidden
    step = loops_work(_of_state(call, target)).times(depth_slices(gate_count))
    gates = recurrent.gates(target.machine, layer.cell).cost
    step += loop_work(gates, batch * depth_slices(layer.hidden))
    recurrence = _recurrence_bytes(call)
    fetched = recurrence if recurrence <= target.l2_bytes else steps * recurrence
    jobs = (step.times(steps),) * layer.directions
    chain = Stage((Slice(jobs, fetched, traffic.write_bytes),), target.workers)
    return NodeWork((input_stage, chain), "kernel")


MODELS: Models = {Recurrent: KernelModel(streams, work, memory)}
