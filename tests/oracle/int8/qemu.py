"""Our HVX programs, built by clang for one architecture version and run by qemu-hexagon.

qemu 7.2 executes what V60 to V67 have in common; it aborts on V65's `vrmpy` with a register pair
and on V66's Z register, so kernels of those forms cannot be judged here.
"""

import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.oracle.int8.record import Record
from tests.oracle.toolchain import CLANG, LLD, QEMU

VERSIONS = (60, 62, 65, 66)
SOURCES = Path(__file__).parent / "hvx"
_RUNTIME = Path(__file__).parents[1]


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="hvx-values-")


@cache
def build(program: str, version: int) -> Path:
    """Return the executable of hvx/<program>.c for one architecture version."""
    target = Path(_folder().name) / f"{program}-v{version}"
    compiled = target.with_suffix(".o")
    arch = [f"-mv{version}", f"-mhvx=v{version}", "-mhvx-length=128B"]
    free = ["-ffreestanding", "-nostdlib", "-fno-builtin", "-fno-pic", "-static"]
    files = ["-I", str(_RUNTIME), "-c", str(SOURCES / f"{program}.c"), "-o", str(compiled)]
    machine = ["--target=hexagon-unknown-linux-musl", *arch]
    _call([CLANG, *machine, *free, "-O2", "-Wall", "-Werror", *files])
    _call([LLD, "-static", "-o", str(target), str(compiled)])
    return target


def run(program: str, version: int, records: Sequence[Record]) -> list[bytes]:
    """Return the result of every record, all of them in one run of the emulator."""
    data = b"".join(record.bytes for record in records)
    output = _call([QEMU, str(build(program, version))], data)
    sizes = [record.result_bytes for record in records]
    if len(output) != sum(sizes):
        raise RuntimeError(f"{program} v{version} wrote {len(output)} bytes, not {sum(sizes)}")
    results, start = [], 0
    for size in sizes:
        results.append(output[start : start + size])
        start += size
    return results


def _call(command: Sequence[str], data: bytes = b"") -> bytes:
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        message = done.stderr.decode(errors="replace")[:2000]
        raise RuntimeError(f"{command[0]} failed ({done.returncode}): {message}")
    return done.stdout
