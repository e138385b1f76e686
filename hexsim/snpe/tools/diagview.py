"""`snpe-diagview`: prints the SNPEDiag_0.log that snpe-net-run has written."""

import time
from pathlib import Path
from typing import Annotated

import typer

from hexsim.cli._files import FILE, OUTPUT
from hexsim.cli._say import say
from hexsim.snpe.option_tables import tools


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


TOOLS = tools({"snpe-diagview": diagview})
