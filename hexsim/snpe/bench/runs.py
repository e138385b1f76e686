"""One run of one flavour, with the files that SNPE writes into its folder.

`SNPEDiag_0.log` is written last, so a folder that has it holds a finished run. It equals the log of
snpe-net-run as `snpe-bench_cmds.sh` calls it. A finished run is not repeated: its log is read if
its head describes the run of this benchmark.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim import __version__
from hexsim.errors import HexsimError
from hexsim.files import write_bytes

if TYPE_CHECKING:
    from hexsim.datasheets.stacks import BufferType
    from hexsim.deployment import Deployment
    from hexsim.snpe.diag_log import DiagRow, DiagRun


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
