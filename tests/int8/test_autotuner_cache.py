import os
import subprocess
import sys

import pytest

from hexsim.int8.autotuner import AutotunerCache


def test_later_processes_read_what_was_kept(tmp_path):
    AutotunerCache(tmp_path / "choices").store("1x7x7x8: a 1.00, b 1.10", "b", "a 2.0 us, b 1.0 us")
    (file,) = (tmp_path / "choices").iterdir()
    assert file.read_text() == "b | 1x7x7x8: a 1.00, b 1.10 | a 2.0 us, b 1.0 us\n"
    assert AutotunerCache(tmp_path / "choices").answer("1x7x7x8: a 1.00, b 1.10") == "b"
    assert AutotunerCache(tmp_path / "choices").answer("1x7x7x9: a 1.00, b 1.10") is None


@pytest.mark.parametrize(
    "content", [b"", b"b", b"b | another | a", b"a | b | c | d", b"\xff | q | "]
)
def test_a_file_that_says_something_else_is_no_answer_and_is_replaced(tmp_path, content):
    cache = AutotunerCache(tmp_path)
    cache.store("question", "a", "")
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    later = AutotunerCache(tmp_path)
    assert later.answer("question") is None
    later.store("question", "b", "")
    assert AutotunerCache(tmp_path).answer("question") == "b"


def test_without_a_folder_the_process_remembers():
    cache = AutotunerCache(None)
    assert cache.answer("question") is None
    cache.store("question", "a", "")
    assert cache.answer("question") == "a"


@pytest.mark.parametrize("folder", ["file", "file/choices", "missing/choices"])
def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, folder):
    (tmp_path / "file").write_text("in the way")
    cache = AutotunerCache(tmp_path / folder)
    cache.store("question", "a", "")
    assert cache.answer("question") == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_does_no_harm(tmp_path):
    tmp_path.chmod(0o500)
    cache = AutotunerCache(tmp_path)
    cache.store("question", "a", "")
    assert cache.answer("question") == "a"
    tmp_path.chmod(0o700)


def test_after_a_race_all_read_the_same(tmp_path):
    write = (
        "import sys; from pathlib import Path\n"
        "from hexsim.int8.autotuner import AutotunerCache\n"
        "for _ in range(200): AutotunerCache(Path(sys.argv[1])).store('question', sys.argv[2], 'x')"
    )
    racers = [
        subprocess.Popen([sys.executable, "-c", write, str(tmp_path), name]) for name in ("a", "b")
    ]
    while any(racer.poll() is None for racer in racers):
        assert AutotunerCache(tmp_path).answer("question") in ("a", "b", None)
    assert [racer.returncode for racer in racers] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 1
    answers = {AutotunerCache(tmp_path).answer("question") for _ in range(3)}
    assert answers in ({"a"}, {"b"})
