import os
import shutil
from pathlib import Path

import pytest

import hexsim.int8
from hexsim.int8.machine_code import cache

SIGNATURE = "void(int32[::1])"


def kernel_cache():
    """The folder that holds those of all signatures."""
    folder = cache.kernel_cache(SIGNATURE)
    return None if folder is None else folder.parent


@pytest.fixture(autouse=True)
def _forget():
    cache.cache_folder.cache_clear()
    yield
    cache.cache_folder.cache_clear()


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
    cache.cache_folder.cache_clear()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert kernel_cache().parent == tmp_path / "home" / ".cache" / "hexsim"


def test_an_edit_of_any_file_changes_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path / "cache"))
    package = shutil.copytree(Path(hexsim.int8.__file__).parent, tmp_path / "package")
    monkeypatch.setattr(cache, "_PACKAGE", package)
    before = kernel_cache()
    cache.cache_folder.cache_clear()
    assert kernel_cache() == before
    with (package / "requantize" / "scalar.py").open("a") as file:
        file.write("# edited\n")
    cache.cache_folder.cache_clear()
    assert kernel_cache() != before


def test_no_folder_where_none_can_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path / "file"))
    assert kernel_cache() is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_folder_where_it_is_read_only(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    kernel_cache().chmod(0o500)
    cache.cache_folder.cache_clear()
    assert kernel_cache() is None


def test_each_signature_has_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path))
    folders = {cache.kernel_cache(f"void({kind}[::1])") for kind in ("uint8", "int32", "uint8")}
    assert len(folders) == 2
    assert {folder.parent for folder in folders} == {kernel_cache()}
