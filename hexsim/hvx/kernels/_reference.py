"""Reference kernels: scalar C code on one thread, where no vector kernel fits."""

from __future__ import annotations

from hexsim.hvx.streams import Kernel
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Slice, Stage, WorkItem


def reference_stage(kernel: Kernel, macs: int, outputs: int, traffic: Traffic) -> Stage:
    """One job that computes everything, after everything has been fetched."""
    cost = kernel.cost
    stalls = cost.stalls * macs
    item = WorkItem(cost.tile * macs + cost.row * outputs - stalls, stalls, vector=False)
    return Stage((Slice((item,), traffic.read_bytes, traffic.write_bytes),), threads=1)
