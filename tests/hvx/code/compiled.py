"""The kernels of examples/kernels, compiled."""

import subprocess
from pathlib import Path

from benchmarks.pages import ROOT
from tests.oracle.toolchain import CLANG, LLD

KERNELS = ROOT / "examples" / "kernels"
NAMES = sorted(path.stem for path in KERNELS.glob("*.c"))


def compiled(name: str, version: int, folder: Path, *options: str) -> Path:
    """Compile a kernel as its page says, and return the object."""
    made = folder / f"{name}-{version}{'-'.join(options)}.o"
    target = ["--target=hexagon", f"-mv{version}", f"-mhvx=v{version}", "-mhvx-length=128B"]
    flags = ["-ffreestanding", "-O2", "-fno-unroll-loops", *options]
    source = str(KERNELS / f"{name}.c")
    subprocess.run([CLANG, *target, *flags, "-c", source, "-o", str(made)], check=True)
    return made


def program(folder: Path) -> Path:
    """Build the program of `dot`, as its page says."""
    target = ["--target=hexagon-unknown-linux-musl", "-mv68", "-mhvx=v68", "-mhvx-length=128B"]
    flags = ["-ffreestanding", "-O2", "-fno-unroll-loops", "-fno-pic"]
    made = folder / "program"
    objects = []
    for source in (KERNELS / "program" / "dot_program.c", KERNELS / "dot.c"):
        objects.append(str(folder / f"{source.stem}.o"))
        command = [CLANG, *target, *flags, "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    subprocess.run([LLD, "-static", *objects, "-o", str(made)], check=True)
    return made
