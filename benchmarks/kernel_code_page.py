"""Writes the listings of docs/concepts/kernel-code.md: what its commands print.

    python -m benchmarks.kernel_code_page --write

Needs clang-19 and llvm-19.
"""

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

import hexsim
from benchmarks.pages import CONCEPTS, ROOT, fenced, with_block
from hexsim.files import write_text

PAGE = CONCEPTS / "kernel-code.md"
SOURCE = ROOT / "examples" / "kernels" / "half_product.c"
COMPILE = (
    *("clang-19", "--target=hexagon", "-mv73", "-mhvx=v73", "-mhvx-length=128B"),
    *("-ffreestanding", "-O2", "-fno-unroll-loops"),
)


def listing(*options: str) -> str:
    """Return what `hexsim kernel half_product.o --chip sd8gen2` prints."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        made = Path("half_product.o")
        subprocess.run([*COMPILE, *options, "-c", str(SOURCE), "-o", str(made)], check=True)
        return fenced(str(hexsim.kernel(made, chip="sd8gen2")))


def page() -> str:
    """Return the page with both listings."""
    text = with_block(PAGE.read_text(encoding="utf-8"), "before", listing())
    return with_block(text, "after", listing("-DBY_TWO"))


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_text(PAGE, page())
    else:
        print(page(), end="")
