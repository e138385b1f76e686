"""Reference kernels: scalar C code on one thread, where no vector kernel fits."""

from __future__ import annotations

from hexsim.hvx.kernels import _counted as counted
from hexsim.memory import Traffic
from hexsim.work import Slice, Stage, WorkItem


def reference_stage(macs: int, outputs: int, traffic: Traffic) -> Stage:
    """One job that computes everything, after everything has been fetched."""
    packets = counted.SCALAR_PACKETS_PER_MAC * macs + counted.SCALAR_PACKETS_PER_OUTPUT * outputs
    item = WorkItem(packets, vector=False)
    return Stage((Slice((item,), traffic.read_bytes, traffic.write_bytes),), threads=1)
