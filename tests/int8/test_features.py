import pytest

from hexsim.errors import HexsimError
from hexsim.int8 import features


def test_portable_is_always_granted(monkeypatch):
    monkeypatch.setenv("HEXSIM_KERNELS", "portable")
    monkeypatch.setattr(features, "_cpu_has_avx2", lambda: True)
    assert not features.use_avx2()


@pytest.mark.parametrize("present", [True, False])
def test_default_is_what_the_cpu_has(monkeypatch, present):
    monkeypatch.delenv("HEXSIM_KERNELS", raising=False)
    monkeypatch.setattr(features, "_cpu_has_avx2", lambda: present)
    assert features.use_avx2() is present


def test_numba_restrictions_are_honoured(monkeypatch):
    monkeypatch.delenv("HEXSIM_KERNELS", raising=False)
    monkeypatch.setattr(features.config, "CPU_FEATURES", "+sse2,+avx")
    assert not features.use_avx2()
    monkeypatch.setattr(features.config, "CPU_FEATURES", "+sse2,+avx2")
    assert features.use_avx2()


def test_unknown_choice_is_refused(monkeypatch):
    monkeypatch.setenv("HEXSIM_KERNELS", "fast")
    with pytest.raises(HexsimError, match="HEXSIM_KERNELS is 'fast'"):
        features.use_avx2()
