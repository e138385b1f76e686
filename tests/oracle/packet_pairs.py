"""Writes packet_pairs.json: pairs of instruction classes that llvm-mc refuses in one packet.

python tests/oracle/packet_pairs.py
"""

from __future__ import annotations

import json
from itertools import combinations_with_replacement
from pathlib import Path

from hexsim.hvx.instructions import OPERATIONS, HvxInstruction
from hexsim.hvx.isa import VERSIONS, HvxMachine
from hexsim.hvx.packets import fits
from tests.oracle.toolchain import refused

HERE = Path(__file__).parent
NEEDS_PRODUCER = "vector store new"  # alone in a packet it is no instruction


def representatives(machine: HvxMachine) -> dict[str, HvxInstruction]:
    """The first operation of every class of a machine."""
    by_class: dict[str, HvxInstruction] = {}
    for operation in OPERATIONS.values():
        if operation.of_class in machine.classes and operation.of_class != NEEDS_PRODUCER:
            by_class.setdefault(operation.of_class, operation)
    return by_class


def text(operation: HvxInstruction, position: int) -> str:
    """Assembly for position 0, 1 or 2, with a result that no other position touches."""
    names = {}
    for letter, kind in operation.kinds.items():
        place = "abc".find(letter)
        vector = 4 * position if letter == "d" else 16 + 4 * place
        scalar = 8 + 2 * position if letter == "d" else 16 + 2 * place
        if letter == operation.increments:
            scalar = 2 + position
        names[letter] = {
            "v": f"v{vector}",
            "w": f"v{vector + 1}:{vector}",
            "z": f"v{vector + 3}:{vector}",
            "q": f"q{position}",
            "p": f"p{position}",
            "r": f"r{scalar}",
            "s": f"r{scalar + 1}:{scalar}",
            "l": f"r{2 + position if letter == operation.increments else place % 2}",
        }[kind]
    filled = operation.text.replace("{i}", "0")
    for letter, kind in operation.kinds.items():
        filled = filled.replace(f"{{{letter}:{kind}}}", names[letter])
    return filled


def looser_triples(version: int) -> list[tuple[str, ...]]:
    """Triples of classes that our model issues together and llvm-mc refuses."""
    machine = HvxMachine(version)
    classes = representatives(machine)
    triples = [t for t in combinations_with_replacement(sorted(classes), 3) if fits(machine, t)]
    joined = ("\n  ".join(text(classes[c], k) for k, c in enumerate(t)) for t in triples)
    return [triples[k] for k in refused([f"{{ {packet} }}" for packet in joined], version)]


def judged(version: int) -> list[list[str]]:
    """Pairs of class names that llvm-mc refuses."""
    classes = representatives(HvxMachine(version))
    pairs = list(combinations_with_replacement(classes, 2))
    packets = [f"{{ {text(classes[a], 0)}\n  {text(classes[b], 1)} }}" for a, b in pairs]
    return [sorted(pairs[k]) for k in sorted(refused(packets, version))]


if __name__ == "__main__":
    table = {str(v): judged(v) for v in VERSIONS}
    lines = ",\n".join(f' "{v}": {json.dumps(pairs)}' for v, pairs in table.items())
    (HERE / "packet_pairs.json").write_text(f"{{\n{lines}\n}}\n")
