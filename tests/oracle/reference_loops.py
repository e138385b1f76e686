"""Writes reference_loops.json: clang's inner loops as instructions and their packet count.

    python tests/oracle/reference_loops.py

Each loop of reference_loops.c is compiled at -O3, disassembled and parsed with the texts of our own
instruction table; registers become values (every write makes a new one, except `+=`).
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

from hexsim.hvx.instructions import OPERATIONS, HvxInstruction
from tests.oracle.toolchain import CLANG, OBJDUMP

HERE = Path(__file__).parent
KIND = {
    "v": r"(v\d+)",
    "w": r"(v\d+:\d+)",
    "z": r"(v\d+:\d+)",
    "q": r"(q\d)",
    "p": r"(p\d)",
    "r": r"(r\d+)",
    "l": r"(r\d+)",
    "s": r"(r\d+:\d+)",
}


def pattern(operation: HvxInstruction) -> re.Pattern[str]:
    """Matches the disassembler's text of one operation."""
    text = re.escape(operation.text)
    text = re.sub(r"\\\{(\w):(\w)\\\}", lambda m: f"(?P<{m[1]}>{KIND[m[2]][1:]}", text)
    return re.compile(text.replace(r"\{i\}", r"(?P<i>-?\d+)"))


PATTERNS = {name: pattern(operation) for name, operation in OPERATIONS.items()}


def read(text: str) -> tuple[str, dict[str, str]]:
    """Operation and operand registers of one instruction."""
    text = re.sub(r"-?0x[0-9a-f]+", lambda m: str(int(m[0], 16)), text).replace("##", "#")
    text = re.sub(r"(vmem\(r\d+\+)\+#(\d+)\)", lambda m: f"{m[1]}+#1)", text)
    for name, expression in PATTERNS.items():
        match = expression.fullmatch(text)
        if match:
            return name, match.groupdict()
    raise ValueError(f"not in the instruction table: {text}")


def registers(name: str) -> list[str]:
    pair = re.fullmatch(r"([a-z])(\d+):(\d+)", name)
    return [f"{pair[1]}{pair[3]}", f"{pair[1]}{pair[2]}"] if pair else [name]


class Renaming:
    """Registers of one loop turned into values, packet by packet."""

    def __init__(self, carried: dict[str, str]):
        self.now = dict(carried)
        self.joined: dict[str, str] = {}
        self.made = 0

    def packet(self, instructions: list[tuple[str, dict[str, str]]]) -> list[list[object]]:
        """Reads precede writes, except of `.cur`/`.tmp` loads and by `.new` stores."""
        loads = [k for k in instructions if re.search(r"\.(cur|tmp) ", OPERATIONS[k[0]].text)]
        stores = [k for k in instructions if ".new" in OPERATIONS[k[0]].text]
        rest = [k for k in instructions if k not in loads and k not in stores]
        out = [self.instruction(*k, self.now) for k in loads]
        before = dict(self.now)
        out += [self.instruction(*k, before) for k in rest]
        return out + [self.instruction(*k, self.now) for k in stores]

    def instruction(self, op: str, names: dict[str, str], before: dict[str, str]) -> list[object]:
        operation = OPERATIONS[op]
        sources = [self.value(names[letter], before) for letter in operation.sources]
        target = ""
        if operation.accumulates:
            target = self.value(names["d"], before)
        elif "d" in names:
            self.made += 1
            target = f"t{self.made}"
            parts = registers(names["d"])
            halves = (".lo", ".hi") if len(parts) > 1 else ("",)
            self.now |= {r: target + h for r, h in zip(parts, halves, strict=True)}
        return [op, target, sources, int(names.get("i") or 0)]

    def value(self, name: str, before: dict[str, str]) -> str:
        known = [before.get(r, r) for r in registers(name)]
        if len(known) == 1:
            return known[0]
        whole = {k.removesuffix(s) for k, s in zip(known, (".lo", ".hi"), strict=True)}
        if len(whole) == 1 and known[0].endswith(".lo"):
            return whole.pop()
        pair = "with".join(known)  # two single results side by side are a pair
        self.joined |= {known[0]: f"{pair}.lo", known[1]: f"{pair}.hi"}
        return pair


def values(packets: list[list[str]]) -> list[list[object]]:
    """The loop as instructions over values."""
    decoded = [[read(text) for text in packet] for packet in packets]
    first = Renaming({})
    for packet in decoded:
        first.packet(packet)
    second = Renaming(first.now)  # what the last writes of an iteration are is known now
    out = [instruction for packet in decoded for instruction in second.packet(packet)]
    names = second.joined
    return [[op, names.get(d, d), [names.get(v, v) for v in src], i] for op, d, src, i in out]


def loops(version: int, unroll: int) -> list[dict[str, object]]:
    """Every inner hardware loop of the file."""
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/loops.o"
        target = ["--target=hexagon-unknown-linux-musl", f"-mv{version}", f"-mhvx=v{version}"]
        flags = ["-mhvx-length=128B", "-ffreestanding", "-fno-builtin", "-O3", f"-DUNROLL={unroll}"]
        source = str(HERE / "reference_loops.c")
        subprocess.run([CLANG, *target, *flags, "-c", source, "-o", made], check=True)
        cpu = [f"--mcpu=hexagonv{version}", f"--mattr=+hvxv{version},+hvx-length128b"]
        text = subprocess.run(
            [OBJDUMP, "-d", "--no-show-raw-insn", *cpu, made],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    records: list[dict[str, object]] = []
    name, start, packets, body = "", 0, {}, []
    order: list[int] = []
    targets: list[int] = []
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(\w+)>:", line)
        if head:
            name, packets, order, targets = head[1], {}, [], []
            continue
        at = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if not at:
            continue
        content = at[2].strip()
        if content.startswith("{"):
            start, body, content = int(at[1], 16), [], content[1:]
        tail = re.search(r"\}\s*(:\w+)?\s*$", content)
        content = content[: tail.start()] if tail else content
        body += [p.strip() for p in content.split(";") if p.strip() not in ("", "nop")]
        if not tail:
            continue
        packets[start] = body
        order.append(start)
        for instruction in body:
            target = re.search(r"loop0\((0x[0-9a-f]+)", instruction)
            if target:
                targets.append(int(target[1], 16))
        if ":endloop0" in (tail[1] or "") and targets:
            first = max((t for t in targets if t <= start), default=None)
            if first is None:
                continue
            inside = [packets[a] for a in order if first <= a <= start]
            entry = dict(kernel=name, version=version, unroll=unroll, packets=len(inside))
            body_only = [[i for i in p if "immext" not in i] for p in inside]
            try:
                entry["insns"] = values(body_only)
            except ValueError as problem:
                print(f"{name} V{version} x{unroll} left out: {problem}")
                continue
            if entry not in records:
                records.append(entry)
    return records


def main() -> None:
    table = [x for v in (60, 66) for u in (1, 2, 4) for x in loops(v, u)]
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in table)
    (HERE / "reference_loops.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(table)} loops")


if __name__ == "__main__":
    main()
