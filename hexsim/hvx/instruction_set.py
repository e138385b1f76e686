"""The instructions of V60 to V73 as the disassembler writes them: units, and clocks of operands.

The table `instruction_set.csv` is made by `python -m benchmarks.instruction_set` from the tables of
LLVM 19, which the assembler and the compiler use. Its key is the text with registers and numbers
taken out: `v0.w += vrmpy(v1.ub,v2.b)` is `v.w += vrmpy(v.ub,v.b)`. LLVM 19 knows no version after
V73; later ones are taken to keep its figures (assumed).

Left out: implicit operands other than predicates, and the assembler's rules on order.
"""

import re
from functools import cache
from pathlib import Path

from hexsim.records import dataclass

FIRST_VERSION, LAST_VERSION = 60, 73
REGISTER = re.compile(
    r"\b(?:vtmp(?=\.new)|[rvqpcg]\d+(?::\d+)?|[ms][01]|[ls][ca][01]|cs[01]|usr|gp|ugp|framelimit|framekey)\b"
)
"""A register in the text of an instruction."""
_ADDRESS = re.compile(r"(?<![#\w])-?0x[0-9a-f]+\b")
_NUMBER = re.compile(r"#++[^,);:+\s]*+")
_CONTROL = "c"


def key(text: str) -> str:
    """Return the text of an instruction without registers, numbers and addresses of jumps."""
    return REGISTER.sub(_kind, _ADDRESS.sub("@", _NUMBER.sub("#", " ".join(text.split()))))


def _kind(match: re.Match[str]) -> str:
    name = match[0]
    if name == "p3:0":  # a control register, not a pair
        return _CONTROL
    letter = name[0] if name == "vtmp" or re.match(r"[rvqpg]\d", name) else _CONTROL
    return letter * 2 if ":" in name else letter


@dataclass(frozen=True)
class Operand:
    """A register in the text: the clocks in which it is read and written, None if it is not.

    A clock of 0 stands for one that the table does not state.
    """

    reads: int | None
    writes: int | None

    @classmethod
    def parse(cls, text: str) -> "Operand":
        """Return an operand of the table: `r5`, `w9`, `x9/7` (written in 9, read in 7)."""
        first, _, second = text[1:].partition("/")
        if text[0] == "x":
            return cls(int(second or 0), int(first or 0))
        clock = int(first or 0)
        return cls(clock, None) if text[0] == "r" else cls(None, clock)


Row = tuple[str, ...]
"""A row of the table after its text: version, slots, pipes, port, solo, operands."""


@cache
def _rows() -> dict[str, list[Row]]:
    """Return the rows of each instruction; the module csv would take ten times as long."""
    rows: dict[str, list[Row]] = {}
    table = Path(__file__).with_name("instruction_set.csv").read_text(encoding="utf-8")
    for line in table.splitlines()[1:]:
        text, *row = line.rsplit(",", 6)
        rows.setdefault(text.strip('"'), []).append(tuple(row))
    return rows


def row_of(text: str, version: int) -> Row | None:
    """Return the row of an instruction, by its `key`, on a version; None if it has none."""
    known = [row for row in _rows().get(text, ()) if int(row[0]) <= max(version, FIRST_VERSION)]
    return known[-1] if known else None


def all_units() -> set[Row]:
    """Return slots, pipes, port and solo of every row."""
    return {row[1:-1] for by_version in _rows().values() for row in by_version}
