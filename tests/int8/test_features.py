import os
import subprocess
import sys

import pytest

from hexsim.errors import HexsimError
from hexsim.int8 import features


def test_portable_is_always_granted(monkeypatch):
    monkeypatch.setenv("HEXSIM_KERNELS", "portable")
    monkeypatch.setattr(features, "compiled_features", lambda: {"+avx2"})
    assert not features.use_avx2()


@pytest.mark.parametrize(("found", "used"), [("+avx2", True), ("-avx2", False), ("+avx", False)])
def test_default_is_what_code_is_compiled_for(monkeypatch, found, used):
    monkeypatch.delenv("HEXSIM_KERNELS", raising=False)
    monkeypatch.setattr(features, "compiled_features", lambda: {"+sse2", found})
    assert features.use_avx2() is used


def test_restrictions_of_numba_are_honoured():
    program = "from hexsim.int8.features import use_avx2; print(use_avx2())"
    environment = os.environ | {"NUMBA_CPU_FEATURES": "+sse2", "HEXSIM_KERNELS": ""}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


def test_unknown_choice_is_refused(monkeypatch):
    monkeypatch.setenv("HEXSIM_KERNELS", "fast")
    with pytest.raises(HexsimError, match="HEXSIM_KERNELS is 'fast'"):
        features.use_avx2()
