"""The judges: llvm-mc for packets, clang + lld + qemu-hexagon for values.

Everything runs in a temporary directory; nothing here is needed when the tools are absent, the
committed json files hold what the tools said.
"""

from __future__ import annotations

import bisect
import re
import shutil
import subprocess

CLANG, LLD, MC, OBJDUMP, QEMU = (
    "clang-19",
    "ld.lld-19",
    "llvm-mc-19",
    "llvm-objdump-19",
    "qemu-hexagon",
)


def missing_tools() -> list[str]:
    """The judges that are not installed."""
    return [tool for tool in (CLANG, LLD, MC, OBJDUMP, QEMU) if not shutil.which(tool)]


def refused(packets: list[str], version: int) -> dict[int, str]:
    """The packets (assembly text) that llvm-mc refuses for a version, with its message."""
    starts, text = [], ""
    for packet in packets:
        starts.append(text.count("\n") + 1)
        text += packet + "\n"
    features = f"+hvxv{version},+hvx-length128b" + (",+zreg" if version >= 66 else "")
    done = subprocess.run(
        [
            MC,
            "--triple=hexagon",
            f"--mcpu=hexagonv{version}",
            f"--mattr={features}",
            "--filetype=null",
        ],
        input=text,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    bad: dict[int, str] = {}
    for error in re.finditer(r"<stdin>:(\d+):\d+: error: (.*)", done.stderr):
        bad.setdefault(bisect.bisect_right(starts, int(error[1])) - 1, error[2])
    if done.returncode and not bad:
        raise RuntimeError(done.stderr[:500])
    return bad
