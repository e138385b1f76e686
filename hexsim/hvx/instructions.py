"""The instructions of which the streams of our own kernels consist.

The text is that of Qualcomm's assembler, with operands in braces: `d` is the result, `a b c` are
the sources; after the colon the kind of register: v vector, w vector pair, z four vectors,
q p vector and scalar predicate, r scalar, s scalar pair, l one of the scalars r0-r7. `+=` and
`|=` read the result as well, `++` writes the address back. `{i}` is an immediate. Left out: all
that kernels of quantised networks do not need, such as 64-byte mode and floats.
"""

import csv
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from hexsim.hvx.instruction_set import key
from hexsim.records import dataclass

_OPERAND = re.compile(r"\{([dabc]):([vwzqrslp])\}")
_REGISTERS = {"v": "v0", "w": "v1:0", "z": "v3:0", "s": "r1:0", "l": "r0", "q": "q0", "r": "r0"}
_REGISTERS["p"] = "p0"


@dataclass(frozen=True)
class HvxInstruction:
    """One instruction of the set.

    name: used in streams. of_class: key of `HvxMachine.classes`. text: with operands in braces.
    macs: 8-bit multiply-adds per 32-bit lane of the vector. fixed: register used without being an
    operand.
    """

    name: str
    of_class: str
    text: str
    macs: int = 0
    fixed: str = ""

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Register kind of each operand letter, in order of the text."""
        return dict(_OPERAND.findall(self.text))

    @cached_property
    def key(self) -> str:
        """Its text in the table of all instructions."""
        filled = _OPERAND.sub(lambda match: _REGISTERS[match[2]], self.text)
        return key(re.sub(r"\b(body|outer)\b", "0x0", filled.replace("{i}", "0")))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Letters of the ordinary sources, in alphabetical order."""
        return tuple(sorted(letter for letter in self.kinds if letter != "d"))

    @cached_property
    def accumulates(self) -> bool:
        """Whether the result is also read."""
        return bool(re.search(r"[+|]= ", self.text))

    @cached_property
    def increments(self) -> str | None:
        """Letter of the address that it writes back."""
        match = re.search(r"\{(\w):\w\}(\.ub)?\+\+", self.text)
        return match.group(1) if match else None

    @cached_property
    def addresses(self) -> bool:
        """Whether source `a` is a memory address."""
        return re.search(r"mem|fetch|gather|scatter", self.text) is not None


def _rows() -> Iterator[HvxInstruction]:
    path = Path(__file__).with_name("instructions.csv")
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            fixed = "Z" if row["class"].startswith("Z") else ""
            yield HvxInstruction(row["name"], row["class"], row["text"], int(row["macs"]), fixed)


OPERATIONS = {operation.name: operation for operation in _rows()}
"""The rows of instructions.csv, beside this file, by name."""
