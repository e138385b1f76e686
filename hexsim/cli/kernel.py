"""`hexsim kernel` shows one kernel with all its packets."""

from typing import Annotated

import typer

from hexsim.cli._output import Json
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Hardware

_HARDWARE = Hardware("sd855")


@paged
@grouped
def kernel(
    *,
    kind: Annotated[
        str, typer.Argument(help="conv, depthwise, fully_connected, max_pool, add ...")
    ],
    shape: Annotated[
        str, typer.Option("--shape", help="e.g. 56x56x64:64:3x3:s2 (HxWxC:OUT:KHxKW:stride).")
    ],
    hardware: Hardware = _HARDWARE,
    outputs: Json,
) -> None:
    """Show how a kernel is blocked, and every packet of its instruction streams."""
    from hexsim.reports.kernel import kernel_table
    from hexsim.studies.kernel_probe import described, probe

    answer = described(probe(kind, shape, hardware.platform()))
    outputs.write(json=answer.to_json)
    say(kernel_table(answer))
