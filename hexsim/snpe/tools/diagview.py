"""`snpe-diagview`: prints the SNPEDiag_0.log that snpe-net-run has written."""

import time
from pathlib import Path
from typing import Annotated

import typer

from hexsim.cli._files import FILE, OUTPUT
from hexsim.cli._say import say
from hexsim.snpe.option import Tool
from hexsim.snpe.option_tables import option_table


def diagview(
    log: Annotated[Path, typer.Argument(help="The log."), FILE],
    output: Annotated[Path | None, typer.Option(help="Write the rows as CSV."), OUTPUT] = None,
) -> None:
    """Print the figures of a log."""
    from hexsim.files import write_bytes
    from hexsim.snpe.diag_log import diag_csv, diag_text, read_diag_log

    head, rows = read_diag_log(log)
    if output is not None:
        write_bytes(output, diag_csv(rows).encode())
    say(diag_text(head, rows, time.ctime(log.stat().st_mtime)))


TOOLS = {
    "snpe-diagview": Tool(
        "snpe-diagview",
        "Print the SNPEDiag_0.log of a run; times are those of the simulation, in microseconds.",
        diagview,
        option_table("diagview")["options"],
        notes=(
            "The times that the DSP itself reports while it builds a graph are not simulated. So a "
            "run on it has no Snpe Accelerator Init Time and no Accelerator Init Time.",
        ),
    )
}
