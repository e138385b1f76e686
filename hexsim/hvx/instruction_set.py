"""The instructions of V60 to V73 as the disassembler writes them: units, and clocks of operands.

The table `instruction_set.csv` is made by `python -m benchmarks.instruction_set` from the tables of
LLVM 19, which the assembler and the compiler use. Its key is the text with registers and numbers
taken out: `v0.w += vrmpy(v1.ub,v2.b)` is `v.w += vrmpy(v.ub,v.b)`. LLVM 19 knows no version after
V73; later ones are taken to keep its figures (assumed).

The classes of `hexsim.hvx.isa`, in which the streams of our own kernels are scheduled, agree with
this table; tests/hvx/test_instruction_set.py names the few that differ on purpose.

Left out: implicit operands other than predicates, and the assembler's rules on order.
"""

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hexsim.hvx.isa import HvxMachine, InstructionClass, Pipes, Port
from hexsim.records import dataclass, field

FIRST_VERSION, LAST_VERSION = 60, 73
REGISTER = re.compile(
    r"\b(?:vtmp(?=\.new)|[rvqpcg]\d+(?::\d+)?|[ms][01]|[ls][ca][01]|cs[01]|usr|gp|ugp|framelimit|framekey)\b"
)
"""A register in the text of an instruction."""
_ADDRESS = re.compile(r"(?<![#\w])-?0x[0-9a-f]+\b")
_NUMBER = re.compile(r"#++[^,);:+\s]*+")
_CONTROL = "c"
_PORTS = {"load": Port.VECTOR_LOAD, "store": Port.VECTOR_STORE, "Z": Port.Z_LOAD}


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


@dataclass(frozen=True)
class Description:
    """What the table says of an instruction: its class, and the registers in its text, in order."""

    of_class: InstructionClass
    operands: tuple[Operand, ...]


_Row = tuple[str, ...]
"""A row of the table after its text: version, slots, pipes, port, solo, operands."""


@cache
def _rows() -> Mapping[str, list[_Row]]:
    """Return the rows of each instruction as they stand: few of them are asked for."""
    rows: dict[str, list[_Row]] = {}
    path = Path(__file__).with_name("instruction_set.csv")
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.reader(file)
        assert next(table) == ["text", "since", "slots", "pipes", "port", "solo", "operands"]
        for text, *row in table:
            rows.setdefault(text, []).append(tuple(row))
    return rows


@cache
def _description(*row: str) -> Description:
    *units, operands = row
    return Description(_class_of(*units), tuple(map(Operand.parse, operands.split())))


@cache
def _class_of(slots: str, pipes: str, port: str, solo: str) -> InstructionClass:
    own, _, blocked = slots.partition("+")
    return InstructionClass(
        " ".join(filter(None, (slots, pipes, port, solo))),
        tuple(map(int, own)),
        tuple(_pipes(choice) for choice in pipes.split("|")) if pipes else (),
        _PORTS.get(port),
        blocks_slot1=bool(blocked),
        solo=bool(solo),
    )


def _pipes(letters: str) -> Pipes:
    return Pipes(letters.count("P"), letters.count("S"), letters.count("M"))


def described(text: str, version: int) -> Description | None:
    """Return what the table says of an instruction on a version; None for an unknown one."""
    valid = None
    for since, *row in _rows().get(key(text), ()):
        if int(since) <= max(version, FIRST_VERSION):
            valid = row
    return None if valid is None else _description(*valid)


@dataclass(frozen=True)
class CodeMachine(HvxMachine):
    """A vector unit whose classes are those of the whole instruction set."""

    classes: dict[str, InstructionClass] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        units = {row[1:-1] for by_version in _rows().values() for row in by_version}
        classes = (_class_of(*each) for each in sorted(units))
        object.__setattr__(self, "classes", {of_class.name: of_class for of_class in classes})
