"""`hexsim.kernel`: the packets and clocks of a kernel, compiled code or one of hexsim's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from hexsim.errors import HexsimError, spelled
from hexsim.results.kernel import Kernel
from hexsim.runtimes import DEFAULT_CHIP
from hexsim.studies.conditions import Hardware, platforms_of
from hexsim.studies.kernel_code import code_kernel
from hexsim.studies.kernel_probe import described, probe
from hexsim.studies.probes import KINDS
from hexsim.texts.arguments import arguments_checked


@arguments_checked
def kernel(
    source: str | Path,
    shape: str | None = None,
    chip: str | Path = DEFAULT_CHIP,
    *,
    function: str | None = None,
    trips: Mapping[str, int] | None = None,
    against: str | Path | None = None,
    run: Sequence[str] | None = None,
    **how: Unpack[Hardware],
) -> Kernel:
    """Return the loops of a kernel on a chip, packet by packet, as `hexsim kernel` does.

    `source` is an ELF object or program for Hexagon, or assembly (.s). Of a file, `function`
    selects a function, `trips` gives the iterations of loops by their names, and `against` is
    another version to compare. With `run`, which are its arguments, the file is a program that QEMU
    executes here, in a child without network, and its total is given. With a `shape`, `source` is
    the name of one of hexsim's own kernels, such as "conv". `how` are the fields of `Hardware`.
    Raises HexsimError if the file is no such code or is for another version than the chip's, if
    llvm (or qemu-hexagon) is not installed, if the program cannot be run, and for an unknown
    kernel, function or loop.
    """
    (platform,) = platforms_of(chip, how)
    if shape is None:
        if str(source) in KINDS and not Path(source).exists():
            raise HexsimError(
                f"{source} is a kernel of hexsim, which needs {spelled('shape')}, e.g. "
                f"{KINDS[str(source)].example}"
            )
        return code_kernel(source, platform, function, trips, against, run)
    given = {"function": function, "trips": trips, "against": against, "run": run}
    for name, value in given.items():
        if value or value == []:
            raise HexsimError(
                f"{spelled(name)} is for a file of code; give one, without {spelled('shape')}"
            )
    if str(source) not in KINDS and Path(source).is_file():
        raise HexsimError(
            f"{spelled('shape')} is for a kernel of hexsim, such as conv; leave it out for {source}"
        )
    return described(probe(str(source), shape, platform))
