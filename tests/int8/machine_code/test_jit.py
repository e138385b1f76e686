import os

import numpy as np
import pytest
from numba.core import caching, config

from hexsim.int8.machine_code import cache, jit


def add_one(values):
    for i in range(values.size):
        values[i] += 1


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "kernel_cache", lambda signature: tmp_path)
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
    monkeypatch.setattr(jit, "kernel_cache", lambda signature: None)
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


def test_two_processes_that_compile_at_once_do_not_swap_their_code(monkeypatch, tmp_path):
    """One process saves all of its entry between the other's index and the other's code."""
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    cache.cache_folder.cache_clear()
    template = jit.template("void({0}[::1])")(add_one)
    kinds = [np.dtype(np.uint8), np.dtype(np.int32)]
    save_data = caching.IndexDataCacheFile._save_data
    waiting = [kinds[1]]

    def late(self, name, data):
        if waiting:
            other = waiting.pop()
            # the other process read the index before this one wrote it
            with monkeypatch.context() as patch:
                patch.setattr(caching.IndexDataCacheFile, "_load_index", lambda self: {})
                template(other)(np.zeros(1, other))
        save_data(self, name, data)

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", late)
    template(kinds[0])(np.zeros(1, kinds[0]))
    again = jit.template("void({0}[::1])")(add_one)
    for kind in kinds:
        values = np.zeros(3, kind)
        again(kind)(values)
        np.testing.assert_array_equal(values, 1)
    cache.cache_folder.cache_clear()


def _kept(folder):
    """The files of a kernel that was compiled and kept."""
    jit.CompiledKernel(add_one, "void(float64[::1])")(np.zeros(1))
    cached = [file for file in folder.rglob("*") if file.suffix in (".nbi", ".nbc")]
    assert cached
    return cached


@pytest.mark.parametrize("damage", [b"", b"no pickle", b"\x80\x04cos\nnothing_of_that_name\n."])
def test_a_damaged_file_is_compiled_anew(monkeypatch, tmp_path, damage):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    cache.cache_folder.cache_clear()
    for file in _kept(tmp_path):
        file.write_bytes(damage)
    values = np.zeros(3)
    jit.CompiledKernel(add_one, "void(float64[::1])")(values)
    np.testing.assert_array_equal(values, 1)
    cache.cache_folder.cache_clear()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_code_of_another_user_is_not_run(monkeypatch, tmp_path):
    """Whoever could put this pickle there would have it executed."""
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    cache.cache_folder.cache_clear()
    mark = tmp_path / "executed"
    planted = f"cos\nsystem\n(S'touch {mark}'\ntR.".encode()
    for file in _kept(tmp_path):
        file.write_bytes(planted)
        os.chown(file, 12345, 12345)
    values = np.zeros(3)
    jit.CompiledKernel(add_one, "void(float64[::1])")(values)
    np.testing.assert_array_equal(values, 1)
    assert not mark.exists()
    cache.cache_folder.cache_clear()
