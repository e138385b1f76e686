"""Writes hexsim/hvx/instruction_set.csv from the tables of LLVM 19.

    python -m benchmarks.instruction_set [--write] [--include FOLDER]

Needs g++ and llvm-19-dev, or the headers of that package in FOLDER. Without --write it only says
whether the table is what LLVM says; `made` is what the test compares.
"""

import argparse
import csv
import io
import itertools
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hexsim.hvx import instruction_set
from hexsim.hvx.instruction_set import REGISTER, key

SOURCE = Path(__file__).with_name("itineraries.cpp")
TABLE = Path(instruction_set.__file__).with_name("instruction_set.csv")
VERSIONS = (60, 62, 65, 66, 67, 68, 69, 71, 73)
COLUMNS = ("text", "since", "slots", "pipes", "port", "solo", "operands")
INCLUDE = Path("/usr/lib/llvm-19/include")

# The units of LLVM's itineraries above the four slots.
STORE_PORT, LOAD_PORT = 0x20, 0x400
Z_PORT = 0x8000
PIPES = {
    0x40: "P",
    0x80: "S",
    0x100: "M",
    0x200: "M",
    0x800: "PS",
    0x1000: "MM",
    0x2000: "PSMM",
    0x4000: "PSMM",
}
# Opcodes that stand for others: halves of a duplex, and the compiler's own.
STANDS_FOR_ANOTHER = re.compile(r"(S[ALS]\d|PS)_|[A-Z]{2,}(?!\d_)")


def tables(include: Path = INCLUDE) -> str:
    """Return what the program of SOURCE says of all versions."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/itineraries"
        build = ["g++", "-O1", "-std=c++17", "-w", str(SOURCE), f"-I{include}", "-lLLVM-19"]
        subprocess.run([*build, "-o", program], check=True)
        command = [program, *map(str, VERSIONS)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def units(stages: str) -> tuple[str, str, str]:
    """Return slots, alternatives of pipes, and port of an instruction's stages."""
    slots, port, choices = [], "", []
    for stage in (int(stage, 16) for stage in stages.split()):
        if stage <= 0xF:
            slots.append("".join(str(slot) for slot in range(4) if stage >> slot & 1))
        elif stage in (STORE_PORT, LOAD_PORT, Z_PORT):
            port = {STORE_PORT: "store", LOAD_PORT: "load", Z_PORT: "Z"}[stage]
        else:
            choices.append(dict.fromkeys(PIPES[bit] for bit in PIPES if stage & bit))
    combined = dict.fromkeys("".join(sorted(c, key="PSM".index)) for c in _products(choices))
    return "+".join(slots) or "0123", "|".join(combined), port


def _products(choices: list[dict[str, None]]) -> Iterator[str]:
    return ("".join(product) for product in itertools.product(*choices)) if choices else iter(())


def operands(text: str, stated: str) -> str:
    """Return the registers of a text in order, as `instruction_set.Operand` reads them."""
    explicit = dict.fromkeys(re.findall(r"([du])(\S+)=(\S+)", stated))
    clocks = {(kind, name): clock.strip("-") for kind, name, clock in explicit}
    implicit = {word.lower() for word in stated.split() if "=" not in word}
    columns: list[str] = []
    for name in REGISTER.findall(text):
        written, read = clocks.get(("d", name)), clocks.get(("u", name))
        if written is not None and read is not None:
            columns.append(f"x{written}/{read}")
        elif written is not None or (read is None and f"d{name}" in implicit):
            columns.append(f"w{written or ''}")
            implicit.discard(f"d{name}")
        else:
            columns.append(f"r{read or ''}")
    return " ".join(columns)


def made(include: Path = INCLUDE) -> str:
    """Return the table."""
    by_text: dict[str, dict[int, tuple[str, tuple[str, ...]]]] = {}
    for line in tables(include).splitlines():
        version, opcode, solo, text, stages, stated = line.split("\t")
        if "invalid" in text or not re.match(r"[a-z!(]", text):
            continue
        row = (*units(stages), "solo" if solo == "1" else "", operands(text, stated))
        by_version = by_text.setdefault(key(text), {})
        known = by_version.get(int(version))
        if known is None or STANDS_FOR_ANOTHER.match(known[0]):
            by_version[int(version)] = (opcode, row)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for text in sorted(by_text):
        before = None
        for version in VERSIONS:
            _, row = by_text[text][version]
            if row != before:
                writer.writerow((text, version, *row))
            before = row
    return out.getvalue()


def main() -> None:
    """Compare or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--include", type=Path, default=INCLUDE)
    given = parser.parse_args()
    text = made(given.include)
    if given.write:
        TABLE.write_text(text, encoding="utf-8")
    else:
        print("as LLVM says" if TABLE.read_text(encoding="utf-8") == text else "out of date")


if __name__ == "__main__":
    main()
