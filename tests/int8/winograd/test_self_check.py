import pytest

from hexsim.int8.algorithm import use_vectors
from hexsim.int8.winograd import self_check


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
    multiply = self_check._multiply

    def wrong(*arguments):
        multiply(*arguments)
        arguments[-1][-1] += 1

    monkeypatch.setattr(self_check, "_multiply", wrong)
    assert not self_check.pairs_are_exact()
