import numpy as np
import pytest
from numba.core import config

from hexsim.int8 import jit


def add_one(values):
    for i in range(values.size):
        values[i] += 1


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "kernel_cache", lambda: tmp_path)
    return tmp_path


def test_compiles_when_first_called_into_its_own_folder(folder):
    before = config.CACHE_DIR
    kernel = jit.kernel("void(int32[::1])")(add_one)
    assert not list(folder.rglob("*.nbc"))
    values = np.zeros(3, np.int32)
    kernel(values)
    kernel(values)
    np.testing.assert_array_equal(values, 2)
    assert len(list(folder.rglob("*.nbc"))) == 1
    assert before == config.CACHE_DIR


def test_second_process_reads_what_the_first_compiled(folder):
    jit.kernel("void(int32[::1])")(add_one)(np.zeros(1, np.int32))
    again = jit.kernel("void(int32[::1])")(add_one)
    again(np.zeros(1, np.int32))
    assert sum(again._compiled.stats.cache_hits.values()) == 1


def test_works_without_a_folder(monkeypatch):
    monkeypatch.setattr(jit, "kernel_cache", lambda: None)
    values = np.zeros(3, np.int32)
    jit.kernel("void(int32[::1])")(add_one)(values)
    np.testing.assert_array_equal(values, 1)


def test_a_template_is_a_kernel_for_each_type(folder):
    template = jit.template("void({0}[::1])")(add_one)
    for kind in (np.uint8, np.uint16, np.int32):
        values = np.zeros(3, kind)
        kernel = template(values.dtype)
        kernel(values)
        np.testing.assert_array_equal(values, 1)
        assert template(np.dtype(kind)) is kernel
