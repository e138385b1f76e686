"""Entries hand over every type of argument, and are made once."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching, config

import hexsim.int8
from hexsim.int8.commands import KernelCommandList
from hexsim.int8.machine_code import jit
from hexsim.int8.machine_code.jit import entries, kernel
from hexsim.int8.step import FIRST, LAST, Step


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
    jit.cache_folder.cache_clear()
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
    jit.cache_folder.cache_clear()


def _kept(folder):
    """The files of a kernel that was compiled and kept."""
    jit.CompiledKernel(add_one, "void(float64[::1])")(np.zeros(1))
    cached = [file for file in folder.rglob("*") if file.suffix in (".nbi", ".nbc")]
    assert cached
    return cached


@pytest.mark.parametrize("damage", [b"", b"no pickle", b"\x80\x04cos\nnothing_of_that_name\n."])
def test_a_damaged_file_is_compiled_anew(monkeypatch, tmp_path, damage):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    jit.cache_folder.cache_clear()
    for file in _kept(tmp_path):
        file.write_bytes(damage)
    values = np.zeros(3)
    jit.CompiledKernel(add_one, "void(float64[::1])")(values)
    np.testing.assert_array_equal(values, 1)
    jit.cache_folder.cache_clear()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_code_of_another_user_is_not_run(monkeypatch, tmp_path):
    """Whoever could put this pickle there would have it executed."""
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    jit.cache_folder.cache_clear()
    mark = tmp_path / "executed"
    planted = f"cos\nsystem\n(S'touch {mark}'\ntR.".encode()
    for file in _kept(tmp_path):
        file.write_bytes(planted)
        os.chown(file, 12345, 12345)
    values = np.zeros(3)
    jit.CompiledKernel(add_one, "void(float64[::1])")(values)
    np.testing.assert_array_equal(values, 1)
    assert not mark.exists()
    jit.cache_folder.cache_clear()


SIGNATURE = "void(int32[::1])"


def kernel_cache():
    """The folder that holds those of all signatures."""
    folder = jit.kernel_cache(SIGNATURE)
    return None if folder is None else folder.parent


@pytest.fixture(autouse=True)
def _forget():
    jit.cache_folder.cache_clear()
    yield
    jit.cache_folder.cache_clear()


def test_own_variable_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path / "own"))
    folder = kernel_cache()
    assert folder is not None
    assert folder.parent == tmp_path / "own"


def test_shared_variable_then_home(monkeypatch, tmp_path):
    monkeypatch.delenv("HEXSIM_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    assert kernel_cache().parent == tmp_path / "shared" / "hexsim"
    jit.cache_folder.cache_clear()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert kernel_cache().parent == tmp_path / "home" / ".cache" / "hexsim"


def test_an_edit_of_any_file_changes_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path / "cache"))
    package = shutil.copytree(Path(hexsim.int8.__file__).parent, tmp_path / "package")
    monkeypatch.setattr(jit, "_PACKAGE", package)
    before = kernel_cache()
    jit.cache_folder.cache_clear()
    assert kernel_cache() == before
    with (package / "gemm" / "panels.py").open("a") as file:
        file.write("# edited\n")
    jit.cache_folder.cache_clear()
    assert kernel_cache() != before


def test_no_folder_where_none_can_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path / "file"))
    assert kernel_cache() is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_folder_where_it_is_read_only(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    kernel_cache().chmod(0o500)
    jit.cache_folder.cache_clear()
    assert kernel_cache() is None


def test_each_signature_has_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    folders = {jit.kernel_cache(f"void({kind}[::1])") for kind in ("uint8", "int32", "uint8")}
    assert len(folders) == 2
    assert {folder.parent for folder in folders} == {kernel_cache()}


@kernel("void(uint8[:,:],int32,float32[::1],int64,int64)")
def _columns(x, add, out, first, last):
    for row in range(first, last):
        for column in range(x.shape[1]):
            out[row * x.shape[1] + column] = x[row, column] + add


def test_types_and_strides_reach_the_kernel() -> None:
    x = np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::3]
    out = np.zeros(4, np.float32)
    KernelCommandList([Step(_columns, (x, -7, out, FIRST, LAST), 2)], 1).run()
    np.testing.assert_array_equal(out, x.ravel() - np.float32(7))


def test_an_entry_is_made_once() -> None:
    first = entries([_columns, _columns])
    assert entries([_columns]) == first


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({0: np.zeros((4, 6), np.int8)}, "argument 0 is no array(uint8, 2d, A) but contiguous"),
        ({0: np.zeros(4, np.uint8)}, "contiguous array of uint8, 1 dimensions"),
        ({1: 0.5}, "argument 1 is no int32 but float"),
        ({1: np.zeros(1, np.int32)}, "argument 1 is no int32"),
        ({2: np.zeros(8, np.float32)[::2]}, "but strided array of float32"),
        ({2: 7}, "argument 2 is no array(float32, 1d, C) but int"),
    ],
)
def test_wrong_arguments_never_reach_machine_code(changed, said) -> None:
    right = [np.zeros((4, 6), np.uint8), 3, np.zeros(24, np.float32), FIRST, LAST]
    arguments = tuple(changed.get(at, argument) for at, argument in enumerate(right))
    with pytest.raises(TypeError, match=re.escape(said)):
        KernelCommandList([Step(_columns, arguments, 4)], 1)
    with pytest.raises(TypeError, match="takes 5 arguments, not 4"):
        KernelCommandList([Step(_columns, tuple(right[1:]), 4)], 1)
