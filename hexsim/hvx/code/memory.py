"""Memory in the text of an instruction: what it accesses, and how long others wait for it.

The times are those of the HVX programmer's reference manual of V73, section 3.9 and table 3-2
(documented), and are taken for all versions; its packet is a slot of a thread here (both assumed).
By its section 3.2, VTCM is read and written by every packet without contention, so that loads and
stores never wait for its banks. Section 3.9.8 advises 12 packets between a gather and its
reader, half of the table's 24, as if the table counted packets of all threads.

Left out: stores whose address is written in other words than that of the load, and banks on which
the elements of a gather or scatter meet (then 6 packets for 2, and 48 for 24).
"""

import re
from collections.abc import Iterator

from hexsim.hvx.isa import ADDRESS_READ
from hexsim.records import dataclass

GATHER_UNIT = "the gather unit"
GATHER_SLOTS = 2
"""Slots of a gather or scatter on its unit in VTCM, which all threads share (of several threads
none was faster: llama.cpp, pull request 22347)."""
GATHERED_SLOTS = 24
"""Slots from a gather to a load of its result."""
STORED_SLOTS = 16
"""Slots from a vector store to a load from its address: "approximately 15 packets" between."""
VECTOR_BYTES = 128

_BYTES = {None: 0, "b": 1, "ub": 1, "h": 2, "uh": 2, "bh": 2, "ubh": 2, "w": 4, "d": 8}
_MEMORY = re.compile(
    r"\b(?P<vector>v?)mem(?P<unaligned>u(?=\())?(?P<size>b|ub|h|uh|bh|ubh|w|d)?(?:_\w+)?"
    r"\((?P<address>(?:[^()]|\([^()]*\))*)\)"
)
_TERM = re.compile(r"(?:(?P<base>[a-z]+\d*)(?:<<#(?P<shift>\w+))?|#+(?P<number>-?\w+))")


@dataclass(frozen=True)
class Access:
    """An access to memory: its address as it is written, and its bytes.

    `predicate` is the scalar register on which it depends, with "!" before it if it is inverted.
    """

    is_load: bool
    address: str
    size: int
    is_vector: bool = False
    is_unaligned: bool = False
    predicate: str = ""

    @property
    def place(self) -> str:
        """The address as a name, if the instruction does not change it; otherwise ""."""
        if "++" in self.address:
            return ""
        return f"[{self.address}]" if self.is_vector else f"({self.address})"

    @property
    def terms(self) -> tuple[int, tuple[tuple[str, int], ...]] | None:
        """A number and registers with their shifts, whose sum it is; None if it has other terms."""
        number, registers = 0, []
        before = self.address.partition("++")[0].partition(":")[0].rpartition("=")[2]
        for text in before.split("+"):
            term = _TERM.fullmatch(text.strip())
            if term is None:
                return None
            if term["base"]:
                registers.append((term["base"], int(term["shift"] or "0", 0)))
            else:
                number += int(term["number"], 0) * (self.size if self.is_vector else 1)
        return number, tuple(registers)


def accesses(text: str) -> Iterator[Access]:
    """Yield each access of an instruction to memory; gathers and scatters have none here."""
    condition = re.match(r"if \((!?p\d)\)", text)
    for match in _MEMORY.finditer(text):
        yield Access(
            bool(re.search(r"=\s*$", text[: match.start()])),
            match["address"],
            VECTOR_BYTES if match["vector"] else _BYTES[match["size"]],
            bool(match["vector"]),
            bool(match["unaligned"]),
            condition[1] if condition else "",
        )


def waiting(text: str) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield what stands for memory and for the unit of gathers: name, clocks of read and write.

    A clock of 0 makes nothing wait, but keeps the order.
    """
    if "vgather(" in text or "vscatter(" in text:
        yield GATHER_UNIT, ADDRESS_READ, _clock(GATHER_SLOTS)
        yield "vtmp", None, 0  # for the store beside it
    stored = _clock(GATHERED_SLOTS if "vtmp" in text else STORED_SLOTS)
    for access in accesses(text):
        if access.place and access.is_load:
            yield access.place, ADDRESS_READ, None
        elif access.place:
            yield access.place, None, stored if access.is_vector else 0


def _clock(slots: int) -> int:
    """Return the clock of a result that a reader of addresses has after these slots."""
    return ADDRESS_READ + 2 * slots - 1
