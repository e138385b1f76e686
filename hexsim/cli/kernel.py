"""`hexsim kernel` shows a kernel packet by packet: compiled code, or one of hexsim's own."""

from collections.abc import Mapping
from typing import Annotated

import typer

from hexsim.cli._output import JsonHtml
from hexsim.cli._say import say
from hexsim.cli._signature import Keywords, Reads, grouped, paged
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError
from hexsim.records import dataclass

EXAMPLES = {
    "kernel": (
        "hexsim kernel dot.o --chip sd8gen2",
        "hexsim kernel dot.s --chip sd8gen2 --function dot --trips dot+0x30=1000",
        "hexsim kernel program --run input.raw --chip sd8gen2",
        "hexsim kernel conv --chip sd855 --shape 56x56x64:64:3x3",
    )
}


def _trips(texts: list[str] | None) -> dict[str, int]:
    """Read texts LOOP=N."""
    trips = {}
    for text in texts or ():
        name, equals, count = text.rpartition("=")
        if not (name and equals and count.isascii() and count.isdecimal() and len(count) < 16):
            raise HexsimError(f"--trips '{text}' is not LOOP=N; write e.g. dot+0x30=1000")
        trips[name] = int(count)
    return trips


@dataclass(frozen=True)
class OwnCode(Keywords):
    """Options for a file of code."""

    HEADING = "Compiled code"

    function: Annotated[str | None, "Show the loops of this function alone."] = None
    trips: Annotated[
        Mapping[str, int] | None,
        Reads(list[str] | None, _trips),
        typer.Option(metavar="LOOP=N", help="Iterations of a loop; repeatable."),
    ] = None
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Compare with another version of the code.")
    ] = None
    run: Annotated[
        bool,
        "Run the program under qemu-hexagon, without network and with limits, and give its clocks.",
    ] = False


@paged
@grouped
def kernel(
    *,
    source: Annotated[
        str,
        typer.Argument(
            help="An ELF file for Hexagon, assembly (.s), or with --shape the name of a kernel: "
            "conv, depthwise, add ..."
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="With --run: arguments of the program; write -- before a dash."),
    ] = None,
    shape: Annotated[str | None, "e.g. 56x56x64:64:3x3:s2 (HxWxC:OUT:KHxKW:stride)."] = None,
    code: OwnCode,
    hardware: Hardware,
    outputs: JsonHtml,
) -> None:
    """Show the packets of a kernel: clocks, what they wait for, and what limits its loops.

    The default chip is one whose DSP is known, not that of other commands.
    """
    from hexsim.api.kernel import kernel as answered

    if arguments and not code.run:
        raise HexsimError(f"'{arguments[0]}': arguments are for a program, with --run")
    answer = answered(
        source,
        shape,
        **{**code.keywords(), "run": (arguments or []) if code.run else None},
        **hardware.keywords(),
    )
    outputs.write(answer)
    say(str(answer))
