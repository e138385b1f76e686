"""Writes the listings of docs/concepts/kernel-code.md: what its commands print.

    python -m benchmarks.kernel_code_page --write

Needs clang-19, lld-19, llvm-19 and qemu-user.
"""

import contextlib
import subprocess
import sys
import tempfile

import hexsim
from benchmarks.pages import CONCEPTS, ROOT, fenced, with_block
from hexsim.files.atomic_write import write_text

PAGE = CONCEPTS / "kernel-code.md"
SOURCE = ROOT / "examples" / "kernels" / "half_product.c"
COMPILE = (
    *("clang-19", "--target=hexagon", "-mv73", "-mhvx=v73", "-mhvx-length=128B"),
    *("-ffreestanding", "-O2", "-fno-unroll-loops"),
)


def listing(name: str, *options: str, against: str | None = None) -> str:
    """Return what `hexsim kernel NAME --chip sd8gen2` prints."""
    subprocess.run([*COMPILE, *options, "-c", str(SOURCE), "-o", name], check=True)
    return fenced(str(hexsim.kernel(name, chip="sd8gen2", against=against)))


def run_table() -> str:
    """Return what `hexsim kernel program --run --function dot` prints, from its run on."""
    kernels, linux = SOURCE.parent, ("--target=hexagon-unknown-linux-musl", "-mv68", "-mhvx=v68")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for source in (kernels / "program" / "dot_program.c", kernels / "dot.c"):
            subprocess.run([*COMPILE, *linux, "-fno-pic", "-c", str(source)], check=True)
        subprocess.run(
            ["ld.lld-19", "-static", "dot_program.o", "dot.o", "-o", "program"], check=True
        )
        text = str(hexsim.kernel("program", chip="sd8gen2", function="dot", run=[]))
    return fenced(text[text.index("run: ") :].rstrip())


def page() -> str:
    """Return the page with its listings."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        text = with_block(text, "before", listing("half_product.o"))
        after = listing("by_two.o", "-DBY_TWO", against="half_product.o")
        text = with_block(text, "after", after)
    return with_block(text, "run", run_table())


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_text(PAGE, page())
    else:
        print(page(), end="")
