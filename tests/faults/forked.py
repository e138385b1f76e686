"""Runs commands in forks of one process that has imported everything: many, fast, as anybody.

    python tests/faults/forked.py < requests > answers

A request is a line of JSON: `args` of the command, `cwd`, `env` that is added, and perhaps `uid`,
`limits` (name of the resource -> soft and hard limit), `stdout` (a file to print into), `signal`
with `after` (seconds), and `missing` (variables that are not set). The answer has `code` (negative:
the signal that ended it), `out`, `err` and `seconds`. A user that cannot read Python's own files is
no trouble here, since nothing is left to import.
"""

from __future__ import annotations

import encodings
import json
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

_LONGEST_S = 120.0


def _import_everything() -> None:
    import hexsim

    for module in pkgutil.walk_packages(hexsim.__path__, "hexsim."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):
            import_module(f"encodings.{module.name}")

    drawing = ("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "PIL.Image")
    for name in ("onnx.reference", "onnxruntime", "rich.progress", *drawing):
        with suppress(ImportError):
            import_module(name)
    from typer.testing import CliRunner

    from hexsim.cli.app import app

    for words in (["--help"], ["models", "list"], ["nothing"]):
        CliRunner().invoke(app, words)


def _child(request: dict[str, Any], out: int, err: int) -> NoReturn:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if "stdout" in request:
        out = os.open(request["stdout"], os.O_WRONLY | os.O_CREAT, 0o644)
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    os.chdir(request["cwd"])
    os.environ.update(request.get("env", {}))
    for name in request.get("missing", ()):
        os.environ.pop(name, None)
    for name, limits in request.get("limits", {}).items():
        resource.setrlimit(getattr(resource, name), tuple(limits))
    if "uid" in request:
        os.setgroups([])
        os.setgid(request["uid"])
        os.setuid(request["uid"])
    sys.argv = ["hexsim", *map(os.fsdecode, request["args"])]
    from hexsim.cli import main

    code = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _child(request, out.fileno(), err.fileno())
        status = _ended(pid, request, start)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return {
            "code": os.waitstatus_to_exitcode(status),
            "out": out.read().decode(errors="replace"),
            "err": err.read().decode(errors="replace"),
            "seconds": seconds,
        }


def _ended(pid: int, request: dict[str, Any], start: float) -> int:
    """Wait for the child, and send it the signal when it is time."""
    after = request.get("after")
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        passed = time.monotonic() - start
        if after is not None and passed >= after:
            os.kill(pid, request["signal"])
            after = None
        if passed > _LONGEST_S:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.0005)


def main() -> None:
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.dup(1)
    os.dup2(2, 1)  # whatever is printed on the way is no answer
    _import_everything()
    for line in requests:
        os.write(answers, json.dumps(_answer(json.loads(line))).encode() + b"\n")


if __name__ == "__main__":
    main()
