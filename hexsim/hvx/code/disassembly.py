"""Compiled code as functions of packets: ELF files and assembly, read by the tools of LLVM.

`llvm-objdump` decodes and `llvm-mc` assembles; hexsim decodes nothing itself. The header of the ELF
file says for which version the code was compiled.

Left out: relocations (jumps within a function need none) and data between functions.
"""

import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from hexsim.errors import HexsimError, unknown
from hexsim.hvx.code.memory import waiting
from hexsim.hvx.instruction_set import FIRST_VERSION, LAST_VERSION, REGISTER
from hexsim.hvx.isa import Description, described
from hexsim.records import dataclass
from hexsim.texts.text import visible

_MOST_BYTES = 256 << 20
_MOST_SECONDS = 120
_RELEASES = ("-19", "", "-22", "-21", "-20", "-18", "-17", "-16")
"""Suffixes of the tools of LLVM, the one first whose tables hexsim has."""
_ELF, _HEXAGON = b"\x7fELF", 164
_ASSEMBLY = (".s", ".asm")
_LINE = re.compile(r"\s*+([0-9a-f]++):\s")
_HEADER = re.compile(r"([0-9a-f]+) <(.*)>:")
_SYMBOL = re.compile(r"([0-9a-f]{8}) .{6}(.) (\S+)\s([0-9a-f]+) (?:\.hidden )?(.*)")
_VTCM = re.compile(r"^\s*\d+ \.vtcm\S*\s+([0-9a-f]+) ([0-9a-f]+)", re.MULTILINE)
_TARGET = re.compile(r"(?<![#\w])0x([0-9a-f]+)")
_PLACE = re.compile(r"\b(jump(?::n?t)? |call |loop\d\()[^\s,;]++")


@dataclass(frozen=True)
class Register:
    """Registers of an instruction: single names, clocks of 0 if the table states none.

    `reads` and `writes` are None if it does not. `forwarded` values come from the same packet
    (`.new`) or go to readers in it (`.cur`, `.tmp`).
    """

    names: tuple[str, ...]
    reads: int | None
    writes: int | None
    forwarded: str


@dataclass(frozen=True)
class Instruction:
    """One instruction: its text, and what the table says of it."""

    text: str
    description: Description

    @cached_property
    def registers(self) -> tuple[Register, ...]:
        """The registers in its text, in order, and what stands for memory."""
        registers = []
        matches = REGISTER.finditer(self.text)
        for match, operand in zip(matches, self.description.operands, strict=False):
            after = re.match(r"\.(new|cur|tmp)\b", self.text[match.end() :])
            registers.append(
                Register(
                    _single(match[0]), operand.reads, operand.writes, after[1] if after else ""
                )
            )
        memory = (Register((n,), reads, writes, "") for n, reads, writes in waiting(self.text))
        return (*registers, *memory)

    @property
    def is_gather(self) -> bool:
        """Whether it gathers or scatters, on a unit of VTCM that all threads share."""
        return "vgather(" in self.text or "vscatter(" in self.text

    @cached_property
    def target(self) -> int | None:
        """The address to which it jumps, or at which the loop that it sets up begins."""
        match = re.search(r"jump(?::n?t)?\s|loop\d\(", self.text)
        address = match and _TARGET.match(self.text, match.end())
        return int(address[1], 16) if address else None

    @property
    def is_padding(self) -> bool:
        """Whether it only fills a slot."""
        return self.text == "nop"


def _single(name: str) -> tuple[str, ...]:
    match = re.fullmatch(r"([a-z])(\d+):(\d+)", name)
    if match is None:
        return (name,)
    return tuple(f"{match[1]}{k}" for k in range(int(match[3]), int(match[2]) + 1))


@dataclass(frozen=True)
class CodePacket:
    """The instructions issued together; `ends` are the hardware loops (0, 1) that end with it."""

    address: int
    instructions: tuple[Instruction, ...]
    ends: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        """Its instructions in one line."""
        return "; ".join(instruction.text for instruction in self.instructions)


@dataclass(frozen=True)
class Function:
    """A function of the file: its packets in order, and the labels inside it by address."""

    name: str
    packets: tuple[CodePacket, ...]
    labels: dict[int, str]


@dataclass(frozen=True)
class Code:
    """A file of code for a version of the architecture, e.g. 73.

    `left_out` says which functions have unknown instructions. `vtcm` are the addresses of sections
    whose names begin with ".vtcm".
    """

    name: str
    version: int
    functions: tuple[Function, ...]
    left_out: tuple[str, ...] = ()
    vtcm: tuple[range, ...] = ()


def read_code(path: str | Path, version: int, function: str | None = None) -> Code:
    """Read an ELF file or assembly for a chip of `version`; HexsimError if it is neither.

    Assembly is assembled for that version, and the figures of all instructions are those of it. Of
    a file with other code only `function` is read.
    """
    path = Path(path)
    name = visible(str(path))
    data = _data(path, name)
    if data.startswith(_ELF):
        return _read_elf(path, name, (_version_of(data, name), version), function)
    if path.suffix.lower() not in _ASSEMBLY:
        raise HexsimError(
            f"{name} is no ELF file, and its name does not end in .s; give an object or a program "
            "for Hexagon (clang --target=hexagon -mhvx -c), or assembly"
        )
    with tempfile.TemporaryDirectory() as folder:
        assembled = Path(folder, "code.o")
        decoder = min(max(version, FIRST_VERSION), LAST_VERSION)
        done = _run("llvm-mc", decoder, ["--filetype=obj", "-o", str(assembled), str(path)])
        if done.returncode:
            raise HexsimError(f"{name}{_first_error(done.stderr, str(path))}")
        return _read_elf(assembled, name, (decoder, version), function)


def _data(path: Path, name: str) -> bytes:
    try:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist or is no plain file"
            raise HexsimError(f"{name} {what}; give an object, a program or assembly for Hexagon")
        if path.stat().st_size > _MOST_BYTES:
            raise HexsimError(f"{name} has more than {_MOST_BYTES >> 20} MiB; give a part of it")
        data = path.read_bytes()
    except OSError as error:
        raise HexsimError(f"cannot read {name}: {error.strerror}") from None
    if not data:
        raise HexsimError(f"{name} is empty; give an object, a program or assembly for Hexagon")
    return data


def _version_of(data: bytes, name: str) -> int:
    """Return the version in the header of an ELF file, e.g. 73."""
    remedy = "compile it with clang --target=hexagon"
    if len(data) < 52:
        raise HexsimError(f"{name}: the file ends within the ELF header; {remedy}")
    if data[4:6] != b"\x01\x01":
        raise HexsimError(f"{name} is no 32-bit little-endian ELF file, as all of Hexagon are")
    machine, flags = struct.unpack_from("<H", data, 18)[0], struct.unpack_from("<I", data, 36)[0]
    if machine != _HEXAGON:
        raise HexsimError(f"{name} is code for another processor (ELF machine {machine}); {remedy}")
    digits = f"{flags & 0xFF:x}"
    if not digits.isdecimal() or int(digits) < FIRST_VERSION:
        raise HexsimError(
            f"{name} is code for version {digits} of Hexagon (ELF flags {flags:#x}); hexsim knows "
            f"V{FIRST_VERSION} and later"
        )
    return int(digits)


def _tool(name: str) -> str:
    """Return the path of a tool of LLVM; HexsimError names the package if there is none."""
    path = next(filter(None, (shutil.which(name + release) for release in _RELEASES)), None)
    if path is None:
        raise HexsimError(
            f"{name} is not installed, which reads code for Hexagon; install it, on Debian and "
            "Ubuntu: apt install llvm-19"
        )
    return path


def _run(tool: str, version: int, options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    features = f"+hvxv{version},+hvx-length128b,+hvx-qfloat,+hvx-ieee-fp"
    features += ",+zreg" if version >= 66 else ""
    cpu = ["--triple=hexagon", f"--mcpu=hexagonv{version}", f"--mattr={features}"]
    try:
        return subprocess.run(
            [_tool(tool), *cpu, *options],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_MOST_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise HexsimError(
            f"{tool} did not end within {_MOST_SECONDS} seconds; give a smaller file"
        ) from None


def _first_error(messages: str, path: str) -> str:
    """Return ", line N: what is wrong" of the first error that a tool reported."""
    for message in messages.splitlines():
        place, is_error, what = message.partition("error: ")
        if is_error:
            words = what.replace(path, "").removeprefix("'': ").strip()
            numbers = [number for number in place.split(":") if number.isdecimal()]
            line = f", line {numbers[0]}" if numbers else ""
            remedy = "correct it" if numbers else "compile it again"
            return f"{line}: {visible(words)}; {remedy}"
    return " cannot be read by LLVM; is it complete?"


def _read_elf(path: Path, name: str, versions: tuple[int, int], function: str | None) -> Code:
    """Read an ELF file whose code is for the first version, to run on the second."""
    version, chip_version = versions
    options = ["-d", "-r", "-t", "-h", "--no-show-raw-insn", str(path)]
    done = _run("llvm-objdump", min(version, LAST_VERSION), options)
    if done.returncode:
        raise HexsimError(f"{name}{_first_error(done.stderr, str(path))}")
    listed = dict(_listed(done.stdout, function))
    if not listed:
        raise HexsimError(f"{name} has no code in it; give an object or a program with code")
    if function is not None and function not in listed:
        raise unknown(f"function of {name}", function, listed)
    functions, left_out = [], []
    for each, (lines, labels) in listed.items():
        if function not in (None, each):
            continue
        try:
            packets = tuple(_packets(lines, chip_version, f"{name}, function {each}"))
            functions.append(Function(each, packets, labels))
        except HexsimError as error:
            left_out.append(str(error))
    if not functions:
        raise HexsimError(left_out[0])
    sections = [(int(at, 16), int(size, 16)) for size, at in _VTCM.findall(done.stdout)]
    vtcm = tuple(range(at, at + size) for at, size in sections)
    return Code(name, version, tuple(functions), tuple(left_out), vtcm)


def _listed(
    listing: str, function: str | None
) -> Iterator[tuple[str, tuple[list[str], dict[int, str]]]]:
    """Yield the functions of a listing with their lines and the labels inside them.

    Each begins at a symbol of a function, and has its size if that is stated; in a section without
    one, at each label. Of several names of one place the listing has one, or `function`; a name
    that another place has too gets its address.
    """
    names = set[str]()
    symbols, *sections = listing.split("Disassembly of section ")
    matches = [*filter(None, map(_SYMBOL.match, symbols.splitlines()))]
    for section in sections:
        lines = section.splitlines()
        here = [match for match in matches if match[3] == lines[0].removesuffix(":")]
        functions = sorted((match[1], int(match[4], 16)) for match in here if match[2] == "F")
        sizes = dict(functions)  # the largest, of a place with several names
        places = {match[5]: match[1] for match in here}
        current: tuple[list[str], dict[int, str]] | None = None
        for line in lines:
            header, code = _HEADER.fullmatch(line), _LINE.match(line)
            if header and (header[1] in sizes or not sizes or current is None):
                asked = function if places.get(function) == header[1] else None
                name, current = visible(asked or header[2]), ([], {})
                name += f"@{int(header[1], 16):x}" if name in names else ""
                names.add(name)
                end = int(header[1], 16) + (sizes.get(header[1], 0) or 1 << 32)
                yield name, current
            elif header and current:
                current[1][int(header[1], 16)] = visible(header[2])
            elif code and current and int(code[1], 16) < end:
                current[0].append(_resolved(line, places))


def _resolved(line: str, places: dict[str, str]) -> str:
    """Return a line with the place that its relocation names; the linker would write it."""
    text, relocation, after = line.partition(":  R_HEX_")
    if not relocation:
        return line
    text = text.rstrip("0123456789abcdef")
    named = after.partition("\t")[2]
    symbol = named.rpartition("+0x")[0] or named
    address = places.get(symbol)
    place = visible(symbol) if address is None else f"{int(address, 16):#x}"
    return _PLACE.sub(lambda match: match[1] + place, text)


def _plain(text: str) -> str:
    """Return the text of an instruction without names of places, `<f+0x10>`, and with one space."""
    before, *named = text.split(" <")
    return " ".join((before + "".join(name.partition(">")[2] for name in named)).split())


def written_packet(text: str, version: int) -> CodePacket:
    """Return a packet of our own listing, `{ a\\n  b }`; labels in it are jumps to address 0."""
    texts = [re.sub(r"\b(body|outer)\b", "0x0", line) for line in text.strip("{} ").split("\n")]
    pairs = [(line.strip(), described(line.strip(), version)) for line in texts]
    return CodePacket(0, tuple(Instruction(line, known) for line, known in pairs if known))


def _packets(lines: Sequence[str], version: int, name: str) -> Iterator[CodePacket]:
    address = 0
    instructions: list[Instruction] = []
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        if not instructions:
            address = int(match[1], 16)
        body, is_last, after = line[match.end() :].partition("}")
        for text in map(_plain, body.lstrip("{ \t").split("; \t")):
            if not text:
                continue
            description = described(_PLACE.sub(r"\g<1>0x0", text), version)
            if description is None:
                shown = "the instruction" if "unknown" in text else f"'{visible(text)}'"
                raise HexsimError(
                    f"{name}, address {match[1]}: LLVM's tables up to V{LAST_VERSION} do not have "
                    f"{shown}, as none of HMX; give code without it"
                )
            instructions.append(Instruction(text, description))
        if is_last:
            ends = frozenset(map(int, "".join(re.findall(r":endloop(\d+)", after))))
            yield CodePacket(address, tuple(instructions), ends)
            instructions = []
