"""Writes packet_pairs.json: pairs of instruction classes that llvm-mc refuses in one packet.

python tests/oracle/packet_pairs.py
"""

from __future__ import annotations

import json
from itertools import combinations_with_replacement
from pathlib import Path

from toolchain import refused

from hexsim.hvx.instructions import OPERATIONS, Operation
from hexsim.hvx.isa import VERSIONS, Machine

HERE = Path(__file__).parent
NEEDS_PRODUCER = "vector store new"  # alone in a packet it is no instruction


def representatives(machine: Machine) -> dict[str, Operation]:
    """The first operation of every class of a machine."""
    found: dict[str, Operation] = {}
    for operation in OPERATIONS.values():
        if operation.of_class in machine.classes and operation.of_class != NEEDS_PRODUCER:
            found.setdefault(operation.of_class, operation)
    return found


def text(operation: Operation, position: int) -> str:
    """Assembly with registers that the other position does not touch."""
    names = {}
    for letter, kind in operation.kinds.items():
        vector = "dabc".index(letter) * 8 + 4 * position
        scalar = 8 + "dabc".index(letter) * 4 + 2 * position
        low = 2 * "abc".index(letter) + position if kind == "l" else 0
        names[letter] = {
            "v": f"v{vector}",
            "w": f"v{vector + 1}:{vector}",
            "z": f"v{vector + 3}:{vector}",
            "q": f"q{2 * position + (letter == 'a')}",
            "p": f"p{position}",
            "r": f"r{scalar}",
            "s": f"r{scalar + 1}:{scalar}",
            "l": f"r{low}",
        }[kind]
    filled = operation.text.replace("{i}", "0")
    for letter, kind in operation.kinds.items():
        filled = filled.replace(f"{{{letter}:{kind}}}", names[letter])
    return filled


def judged(version: int) -> list[list[str]]:
    """Pairs of class names that llvm-mc refuses."""
    classes = representatives(Machine(version))
    pairs = list(combinations_with_replacement(classes, 2))
    packets = [f"{{ {text(classes[a], 0)}\n  {text(classes[b], 1)} }}" for a, b in pairs]
    return [sorted(pairs[k]) for k in sorted(refused(packets, version))]


if __name__ == "__main__":
    table = {str(v): judged(v) for v in VERSIONS}
    lines = ",\n".join(f' "{v}": {json.dumps(pairs)}' for v, pairs in table.items())
    (HERE / "packet_pairs.json").write_text(f"{{\n{lines}\n}}\n")
