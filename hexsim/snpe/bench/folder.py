"""The folder of a benchmark's results; an interrupted benchmark continues in its folder.

`<HostResultsDir>/<date>/` holds `benchmark.json`, which identifies the benchmark: digests of the
config and of the files it names, the options, chip and software, and the version of hexsim. The
link `latest_results` points to the newest folder. If that folder has no CSV yet and the same
`benchmark.json`, its benchmark was interrupted and continues there.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim import __version__
from hexsim.errors import HexsimError
from hexsim.files.atomic_write import clean_tree, write_bytes

if TYPE_CHECKING:
    from hexsim.datasheets.stacks import BufferType
    from hexsim.deployment import Deployment
    from hexsim.snpe.diag_log import DiagRow, DiagRun


LATEST = "latest_results"
_IDENTITY = "benchmark.json"
_STAMP = "%Y-%m-%d_%H:%M:%S"


def digest(data: bytes | str) -> str:
    """Return a digest of data, which differs for other data."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def digests(files: Iterable[Path]) -> dict[str, str]:
    """Return the digest of each file that exists, by its path."""
    return {str(path): digest(path.read_bytes()) for path in files if path.is_file()}


def results_folder(base: Path, identity: Mapping[str, object], finished: str) -> tuple[Path, bool]:
    """Return the folder to write into, and whether an interrupted benchmark is in it.

    `finished` is the file that a finished benchmark has. Raises HexsimError if folder or link
    cannot be made.
    """
    identity_text = json.dumps(identity, indent=1, sort_keys=True).encode() + b"\n"
    latest = base / LATEST
    if (
        latest.is_dir()
        and not (latest / finished).exists()
        and _holds(latest / _IDENTITY, identity_text)
    ):
        folder = base / latest.resolve().name
        if folder.is_dir():
            clean_tree(folder)
            return folder, True
    moment = time.time()
    while (folder := base / time.strftime(_STAMP, time.localtime(moment))).exists():
        moment += 1  # another benchmark of this second
    write_bytes(folder / _IDENTITY, identity_text, parents=True)
    _link(latest, folder.name)
    return folder, False


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False


def _link(place: Path, target: str) -> None:
    """Make the link `place` point to `target` in the same folder."""
    if place.exists() and not place.is_symlink():
        raise HexsimError(f"'{place}' is no link; remove it, so that it can lead to the results")
    other = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    try:
        os.symlink(target, other)
        os.replace(other, place)
    except OSError as error:
        raise HexsimError(f"cannot make link '{place}': {error.strerror}") from None


def finished_run(folder: Path, run: DiagRun) -> list[DiagRow] | None:
    """Return the rows of a finished run; None if there is none, or the run is a different one."""
    from hexsim.snpe.diag_log import read_diag_log

    try:
        head, rows = read_diag_log(folder / "SNPEDiag_0.log")
    except HexsimError:
        return None
    expected = {"hexsim": __version__, **asdict(run)}
    return rows if {key: head.get(key) for key in expected} == expected else None


def new_run(
    folder: Path, deployment: Deployment, run: DiagRun, buffer: BufferType | None, script: str
) -> list[DiagRow]:
    """Simulate a run and write its folder, with a `script` that repeats it; return its rows."""
    from hexsim.snpe.diag_log import diag_log, diag_rows

    timing = deployment.simulate(perf_profile=run.perf_profile, buffer=buffer)
    rows = diag_rows(run, deployment.plan, timing)
    data = script.encode("utf-8", "surrogateescape")
    write_bytes(folder / "snpe-bench_cmds.sh", data, parents=True)
    write_bytes(folder / "SNPEDiag_0.log", diag_log(run, rows).encode(), parents=True)
    return rows


def memory_run(folder: Path, peak_kb: int) -> None:
    """Write the folder of a run that measures memory."""
    text = f"Peak memory of an inference: {peak_kb} kB. That of the process is not simulated.\n"
    write_bytes(folder / "MemLog.txt", text.encode(), parents=True)
