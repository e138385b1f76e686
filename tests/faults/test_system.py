"""What the system refuses ends in one sentence and exit code 2, and costs nobody a file."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexsim.cli._system import of_the_system
from tests.faults.conftest import Run
from tests.imports import CHECKOUT

NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def _files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def _refused(run: Run, folder: Path, line: str, sentence: str, **conditions: object) -> None:
    before = _files(folder)
    ended = run(line, **conditions)
    assert ended.code == 2, ended
    assert ended.err.startswith("hexsim: "), ended.err
    assert sentence in ended.err
    assert ended.err.count("\n") == 1, ended.err
    assert _files(folder) == before


@pytest.fixture
def nobody_s(inputs: Path) -> Path:
    """The folder can be searched by all; `own` is nobody's, `closed` root's alone."""
    for folder in (inputs, *inputs.parents):
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    (inputs / "own").mkdir()
    os.chown(inputs / "own", NOBODY, NOBODY)
    (inputs / "closed").mkdir(mode=0o700)
    for name in ("x.onnx", "x.dlc", "x.toml", "list.txt", "labels.txt", "over.json", "rows.csv"):
        (inputs / "closed" / name).touch()
    return inputs


@as_root
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("info closed/x.dlc", "Permission denied"),
        ("info closed/x.onnx", "Permission denied"),
        ("profile m.dlc --chip closed/x.toml", "Permission denied"),
        ("profile --chip sd835 m.dlc --background closed/x.toml", "Permission denied"),
        ("convert m.onnx --quantization-overrides closed/over.json -o own/c.dlc", "Permission"),
        ("run --chip sd835 q.dlc --input-list closed/list.txt -o own/o", "Permission denied"),
        ("run --chip sd835 q.dlc --images closed -o own/o", "Permission denied"),
        ("calibrate closed/rows.csv --chip sd835 -o own/a.toml", "Permission denied"),
        ("info m.dlc --json closed/out.json", "cannot write 'closed/out.json'"),
        ("info m.dlc --json out.json", "not writable"),
        ("info m.dlc --json q.dlc", "read-only for you"),
        ("run --chip sd835 q.dlc --input-list list.txt", "cannot write into folder 'output'"),
        ("models export conv1x1_1to1 -o closed/x.onnx", "cannot write"),
    ],
)
def test_nobody_is_refused(run: Run, nobody_s: Path, line: str, sentence: str) -> None:
    _refused(run, nobody_s, line, sentence, uid=NOBODY, env={"HOME": "/nonexistent"})


@as_root
def test_nobody_works_without_a_home(run: Run, nobody_s: Path) -> None:
    """No cache can be made; nothing is written but what was asked for."""
    missing = ["HOME", "XDG_CACHE_HOME", "HEXSIM_CACHE_DIR"]
    before = _files(nobody_s)
    ended = run("profile --chip sd835 m.dlc --json own/p.json", uid=NOBODY, missing=missing)
    assert ended.code == 0, ended.err
    assert os.listdir(nobody_s / "own") == ["p.json"]
    assert (nobody_s / "own/p.json").stat().st_uid == NOBODY
    assert _files(nobody_s) == before
    assert not (nobody_s / "~").exists()


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(
    "line",
    [
        "convert m.onnx -o out",
        "quantize m.dlc --input-list list.txt -o out --encodings-report r.json",
        "info m.dlc --json out --csv c.csv",
        "profile --chip sd835 m.dlc --json out --trace t.json",
        "models export conv1x1_1to1 -o out",
    ],
)
def test_a_limit_on_the_size_of_files(run: Run, inputs: Path, line: str) -> None:
    _refused(run, inputs, line, "File too large", limits={"RLIMIT_FSIZE": [100, 100]})


@pytest.fixture
def small_disk(inputs: Path) -> Iterator[Path]:
    """A file system with 16 KB."""
    place = inputs / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(run: Run, small_disk: Path, inputs: Path) -> None:
    (small_disk / "out.json").write_text("old")
    _refused(
        *(
            run,
            small_disk,
            "profile --chip sd835 m.dlc --csv disk/c.csv --json disk/out.json --trace disk/t",
        ),
        "No space left on device",
    )
    assert _files(small_disk) == {"out.json": b"old"}


@pytest.mark.slow
def test_a_full_cache_is_gone_without(run: Run, small_disk: Path, inputs: Path) -> None:
    """The portable kernels alone, since all that are tried are compiled each time."""
    env = {"HEXSIM_CACHE_DIR": str(small_disk), "HEXSIM_KERNELS": "portable"}
    ended = run("run q.dlc --input-list list.txt --chip sd835", env=env)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    "line", ["chips list", "--help", "profile --chip sd835 m.dlc --json out.json"]
)
def test_what_is_printed_finds_no_room(run: Run, inputs: Path, line: str) -> None:
    """Then nothing is written either."""
    _refused(run, inputs, line, "cannot print the report: No space left", stdout="/dev/full")


def test_a_limit_on_open_files(run: Run, inputs: Path) -> None:
    number = len(os.listdir("/proc/self/fd"))
    ended = {n: run("info m.dlc", limits={"RLIMIT_NOFILE": [n, n]}) for n in range(3, number + 8)}
    assert {result.code for result in ended.values()} <= {0, 2}, ended
    assert all(result.err.count("\n") == (result.code == 2) for result in ended.values()), ended


def test_a_limit_on_cpu_time(run: Run, inputs: Path) -> None:
    """Of this process; what the fork brings along counts from nought."""
    ended = run("bench --chip sd835 --json out.json", limits={"RLIMIT_CPU": [2, 2]})
    assert (ended.code, ended.out) == (2, "")
    assert "the limit on CPU time is reached" in ended.err
    assert not (inputs / "out.json").exists()


def test_a_limit_on_memory_that_is_too_low(run: Run, inputs: Path) -> None:
    limit = 512 << 20
    ended = run("info m.dlc", limits={"RLIMIT_AS": [limit, resource.RLIM_INFINITY]})
    assert ended.code == 2
    assert "the limit on memory is 512 MB" in ended.err


@pytest.mark.parametrize(
    "line",
    [
        "info pipe.onnx",
        "info pipe.dlc",
        "info /dev/zero",
        "diff m.dlc pipe.dlc",
        "chips show pipe.toml",
        "stacks show pipe.toml",
        "profile m.dlc --chip pipe.toml",
        "profile --chip sd835 m.dlc --stack pipe.toml --json old",
        "bench --chip sd835 --model m.dlc --background pipe.toml",
        "run --chip sd835 q.dlc --input-list pipe.dlc --trace old",
        "run --chip sd835 q.dlc --input-list /dev/stdin",
        "run --chip sd835 q.dlc --input-list names-a-pipe.txt --trace old",
        "run --chip sd835 q.dlc --images pictures",
        "validate --chip sd835 q.dlc --input-list list.txt --labels pipe.dlc",
        "convert m.onnx --quantization-overrides pipe.dlc",
        "calibrate pipe.dlc --chip sd835 -o a.toml",
    ],
)
def test_what_does_not_end_is_refused_at_once(run: Run, inputs: Path, line: str) -> None:
    for name in ("pipe.onnx", "pipe.dlc", "pipe.toml"):
        os.mkfifo(inputs / name)
    (inputs / "pictures").mkdir()
    os.mkfifo(inputs / "pictures/a.png")
    (inputs / "names-a-pipe.txt").write_text("pipe.dlc\n")
    (inputs / "old").touch()
    ended = run(line)
    assert ended.code == 2, ended
    assert "no ordinary file" in ended.err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (f"info {'n' * 300}.onnx", "File name too long"),
        (f"info {'n' * 300}.dlc", "File name too long"),
        (f"profile m.dlc --chip {'n' * 300}.toml", "File name too long"),
        (f"info m.dlc --json {'n' * 300}", "File name too long"),
        (f"run --chip sd835 q.dlc --input-list list.txt -o {'n' * 300}", "File name too long"),
        ("run --chip sd835 q.dlc --input-list long.txt", "line 1: cannot read"),
        ("run --chip sd835 q.dlc --input-list nul.txt", "line 1 holds a NUL"),
        ("info m.dlc/inside.onnx", "no such file"),
        ("info loop.onnx", ""),
    ],
)
def test_names_that_cannot_be(run: Run, inputs: Path, line: str, sentence: str) -> None:
    (inputs / "long.txt").write_text("n" * 300 + "\n")
    (inputs / "nul.txt").write_text("a\0b.raw\n")
    (inputs / "loop.onnx").symlink_to("loop.onnx")
    _refused(run, inputs, line, sentence)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_names_that_no_encoding_knows(run: Run, inputs: Path, encoding: str) -> None:
    odd = os.fsdecode(b"\xff\xe9.dlc")
    (inputs / odd).write_bytes((inputs / "m.dlc").read_bytes())
    env = {"PYTHONIOENCODING": encoding}
    for line in (f"info {odd} --json {odd}.json --csv {odd}.csv", f"convert m.onnx -o {odd}2"):
        ended = run(line, env=env)
        assert ended.code == 0, ended
    for line in (f"info {odd}x", f"diff {odd} {odd}.json"):
        ended = run(line, env=env)
        assert (ended.code, ended.err.count("\n")) == (2, 1), ended


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, os.strerror(errno.EMFILE), "x.py"),
        OSError(errno.ENFILE, os.strerror(errno.ENFILE)),
        ImportError("libx.so: cannot open shared object file: Too many open files"),
    ],
)
def test_too_many_open_files_are_reported_as_such(error: Exception) -> None:
    """Neither the file at hand nor the installation is at fault."""
    words = "too many files are open at once; allow more (ulimit -n)"
    assert of_the_system(error) == words


@pytest.mark.slow
def test_a_numba_that_compiles_nothing(inputs: Path) -> None:
    line = [sys.executable, "-m", "hexsim", "run", "q.dlc", "--input-list", "list.txt"]
    ended = subprocess.run(
        [*line, "-o", "none"],
        cwd=inputs,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "unset NUMBA_DISABLE_JIT" in ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
