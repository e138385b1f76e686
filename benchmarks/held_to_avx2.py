"""Holds all sides of a comparison to AVX2 without VNNI, on a machine that has more.

Figures for such a CPU can then be checked anywhere, and there onnxruntime's default saturates. Our
side is held by numba's own variables, which say what kernels are compiled for, and OpenVINO by
oneDNN's, which multiplies for it; what OpenVINO compiles itself is not held. onnxruntime has no
such switch: it asks the CPU. So it runs from a temporary copy of the installed package in which the
two questions that matter are answered otherwise:

- `xgetbv` tells which registers the operating system saves. It becomes a constant, the registers
  of SSE and AVX, so that nothing with AVX-512 is chosen.
- `cpuid`, leaf 7, subleaf 1 has the bit of AVX-VNNI. It becomes subleaf 2, which has no such bit.

Both are looked for as the instructions that compilers make of them (found in onnxruntime 1.31 for
x86-64 Linux), so a package built otherwise may not have them, or have more of them elsewhere: what
came of it must be verified by behaviour. The copy is gone when the process that used it ends.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hexsim.int8.machine_code.features import has_vectors

OURS = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+avx,+fma,+bmi,+bmi2,+sse4.2,+sse4.1,+ssse3,+sse3,+popcnt,"
    "+lzcnt,+movbe,+f16c,+cx16,+sahf,+fsgsbase",
}
"""The first CPU with AVX2, as LLVM names it and its features."""
_OPENVINO = {"ONEDNN_MAX_CPU_ISA": "AVX2"}

_ANSWERS = {
    "xgetbv": {"31c9 0f01d0": "31c9 6a0758"},
    "cpuid": {
        "b807000000 b901000000 0fa2": "b807000000 b902000000 0fa2",
        "4489f8 b901000000 0fa2": "4489f8 b902000000 0fa2",
    },
}
"""Instructions, and what takes their place: `xor ecx, ecx; xgetbv` becomes `…; push 7; pop rax`;
before a cpuid of leaf `mov eax, 7` (or r15d), `mov ecx, 1` becomes `mov ecx, 2`."""


def run_again(module: str, arguments: Sequence[str]) -> int:
    """Run `python -m module` with all sides held to AVX2 and return what it returns.

    Ends the process with a sentence if they cannot be held.
    """
    if not has_vectors():
        raise SystemExit("this CPU has no AVX2 (or numba is told so)")
    spec = importlib.util.find_spec("onnxruntime")
    assert spec is not None
    assert spec.origin is not None
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "onnxruntime"
        shutil.copytree(Path(spec.origin).parent, copy)
        libraries = list(copy.glob("capi/onnxruntime_pybind11_state*.so"))
        if not libraries:
            raise SystemExit("the installed onnxruntime is not one for Linux; it cannot be held")
        for library in libraries:
            library.write_bytes(patched(library.read_bytes()))
        path = os.pathsep.join([name, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, **OURS, **_OPENVINO, "PYTHONPATH": path}
        command = [sys.executable, "-m", module, *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


def patched(code: bytes) -> bytes:
    """Return `code` with both questions answered otherwise; end the process if one is not there."""
    for question, answers in _ANSWERS.items():
        before = code
        for asked, instead in answers.items():
            code = code.replace(bytes.fromhex(asked), bytes.fromhex(instead))
        if code == before:
            raise SystemExit(
                f"the installed onnxruntime asks the CPU in another way than release 1.31 "
                f"({question} is not found); it cannot be held to AVX2"
            )
    return code
