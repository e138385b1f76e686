import os
import subprocess
import sys

import pytest

from hexsim.errors import HexsimError
from hexsim.int8 import choice

AVX2 = {"+sse2", "+avx2", "-avxvnni"}


@pytest.mark.parametrize(
    ("wanted", "found", "chosen"),
    [
        ("", {"+sse2"}, "portable"),
        ("", {"-avx2"}, "portable"),
        ("portable", {"+avx2", "+avxvnni"}, "portable"),
        ("", {"+avx2", "+avxvnni"}, "dots"),
        ("", {"+avx2", "+avx512vnni", "+avx512vl"}, "dots"),
        ("", {"+avx2", "+avx512vnni"}, "guarded"),
        ("pairs", {"+avx2", "+avxvnni"}, "pairs"),
        ("guarded", {"+avx2", "+avxvnni"}, "guarded"),
        ("", AVX2, "guarded"),
        ("dots", AVX2, "guarded"),
    ],
)
def test_choice_is_what_is_wanted_if_the_cpu_has_it(monkeypatch, wanted, found, chosen):
    monkeypatch.setenv("HEXSIM_KERNELS", wanted)
    monkeypatch.setattr(choice, "compiled_features", lambda: frozenset(found))
    monkeypatch.setattr(choice, "dots_are_exact", lambda: True)
    assert choice.choose(lambda: True) == chosen


def test_dots_that_fail_their_check_are_not_used(monkeypatch):
    monkeypatch.delenv("HEXSIM_KERNELS", raising=False)
    monkeypatch.setattr(choice, "compiled_features", lambda: frozenset({"+avx2", "+avxvnni"}))
    monkeypatch.setattr(choice, "dots_are_exact", lambda: False)
    assert choice.choose(lambda: False) == "pairs"


def test_restrictions_of_numba_are_honoured():
    program = "from hexsim.int8.choice import choose; print(choose(lambda: True))"
    environment = os.environ | {"NUMBA_CPU_FEATURES": "+sse2", "HEXSIM_KERNELS": ""}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "portable"


def test_unknown_choice_is_refused(monkeypatch):
    monkeypatch.setenv("HEXSIM_KERNELS", "fast")
    with pytest.raises(HexsimError, match="HEXSIM_KERNELS is 'fast'"):
        choice.choose(lambda: True)
