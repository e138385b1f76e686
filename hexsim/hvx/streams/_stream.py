"""Builds instruction streams."""

from hexsim import budget
from hexsim.hvx.packets import Insn


class Stream:
    """Instructions in program order: `s("max.ub", "y", "x", "zero")` appends y = max(x, zero)."""

    def __init__(self) -> None:
        self._insns: list[Insn] = []
        self._limit = budget.allowed(budget.INSTRUCTIONS)

    def __call__(self, op: str, dst: str, *src: str, imm: int = 0) -> str:
        """Append one instruction and return the name of its result."""
        self._insns.append(Insn(op, dst, src, imm))
        if len(self._insns) > self._limit:
            budget.require(budget.INSTRUCTIONS, len(self._insns), "the loop of a kernel")
        return dst

    @property
    def insns(self) -> tuple[Insn, ...]:
        """The stream so far."""
        return tuple(self._insns)
