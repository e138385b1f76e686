import pytest

from hexsim.int8.gemm import self_check
from hexsim.int8.machine_code.features import has_dots


def test_this_cpu_multiplies_bytes_exactly():
    if not has_dots():
        pytest.skip("no VNNI here")
    assert self_check.dots_are_exact()


def test_a_wrong_product_is_noticed(monkeypatch):
    monkeypatch.setattr(self_check, "_multiply", lambda *arguments: arguments[-1].fill(0))
    assert not self_check.dots_are_exact.__wrapped__()
