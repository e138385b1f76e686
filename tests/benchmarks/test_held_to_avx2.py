import os
from pathlib import Path

import pytest

from benchmarks.held_to_avx2 import patched, run_again
from hexsim.int8.machine_code.features import has_vectors

XGETBV = b"\x31\xc9\x0f\x01\xd0"
CPUID = b"\xb8\x07\0\0\0\xb9\x01\0\0\0\x0f\xa2"


def test_both_questions_are_answered_otherwise_and_nothing_moves():
    code = b"\x90\n" + XGETBV + b"\x90" + CPUID + b"\x44\x89\xf8" + CPUID[5:] + b"\x0f\x01\xd0"
    patched_code = patched(code)
    assert len(patched_code) == len(code)
    assert patched_code == (
        b"\x90\n\x31\xc9\x6a\x07\x58\x90\xb8\x07\0\0\0\xb9\x02\0\0\0\x0f\xa2"
        b"\x44\x89\xf8\xb9\x02\0\0\0\x0f\xa2\x0f\x01\xd0"
    )


@pytest.mark.parametrize(("code", "missing"), [(XGETBV, "cpuid"), (CPUID, "xgetbv"), (b"", "xg")])
def test_a_package_built_otherwise_is_refused(code, missing):
    with pytest.raises(SystemExit, match=missing):
        patched(code)


@pytest.mark.slow
def test_held_processes_saturate_and_have_no_dots(tmp_path, monkeypatch):
    if not has_vectors():
        pytest.skip("no AVX2 here")
    (tmp_path / "looks.py").write_text(
        "from benchmarks.int8_against_onnxruntime import saturation\n"
        "from hexsim.int8.machine_code.features import has_dots, has_vectors\n"
        "raise SystemExit(int(saturation()[0]) + 2 * has_vectors() + 4 * has_dots())\n"
    )
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(root)]))
    assert run_again("looks", []) == 3
