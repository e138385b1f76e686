import pytest

from hexsim.int8.gemm import self_check
from hexsim.int8.machine_code.features import has_dots, use_vectors


def test_this_cpu_multiplies_bytes_exactly():
    if not has_dots():
        pytest.skip("no VNNI here")
    assert self_check.dots_are_exact()


def test_a_wrong_product_is_noticed(monkeypatch):
    monkeypatch.setattr(self_check, "_multiply", lambda *arguments: arguments[-1].fill(0))
    assert not self_check.dots_are_exact.__wrapped__()


@pytest.fixture(autouse=True)
def _try_again():
    self_check.pairs_are_exact.cache_clear()
    yield
    self_check.pairs_are_exact.cache_clear()


@pytest.mark.skipif(not use_vectors(), reason="the CPU has no AVX2")
def test_this_cpu_multiplies_pairs_exactly():
    assert self_check.pairs_are_exact()


@pytest.mark.skipif(not use_vectors(), reason="the CPU has no AVX2")
def test_a_wrong_sum_is_noticed(monkeypatch):
    multiply = self_check._multiply_pairs

    def wrong(*arguments):
        multiply(*arguments)
        arguments[-1][-1] += 1

    monkeypatch.setattr(self_check, "_multiply_pairs", wrong)
    assert not self_check.pairs_are_exact()
