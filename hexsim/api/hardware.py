"""The phone that public functions simulate: a chip, its software, and the changes made to them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from hexsim.deployment.calibrated import anchored
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, unknown
from hexsim.runtimes import RUNTIMES, Runtime


class Hardware(TypedDict, total=False):
    """The software of a chip, and changes to the platform, as for `hexsim.benchmark`.

    `stack` is the software, by name or TOML file; None is the chip's own. `ideal_cpu` lets the CPU
    runtimes reach the speed of the cores. `anchor` ("NETWORK=MS" or "NETWORK=FILE") sets the speed
    of the tensor processor from what a phone measured. `vtcm_mb` is the VTCM that graphs on it may
    use; None is all of it.
    """

    stack: str | Path | None
    ideal_cpu: bool
    anchor: str | None
    vtcm_mb: float | None


def hardware(chips: Sequence[str | Path], how: Hardware, graphs: int = 1) -> list[Platform]:
    """Return the platforms of chips; `graphs` run at a time on a tensor processor."""
    platforms = [Platform.load(chip, how.get("stack")) for chip in chips]
    if how.get("ideal_cpu"):
        platforms = [platform.with_ideal_cpu() for platform in platforms]
    platforms = anchored(platforms, how.get("anchor"))
    return [platform.with_vtcm(how.get("vtcm_mb"), graphs) for platform in platforms]


def known_runtime(runtime: Runtime) -> Runtime:
    """Return a runtime; HexsimError for another word."""
    if runtime not in RUNTIMES:
        raise unknown("runtime", runtime, RUNTIMES)
    return runtime


def flag(name: str, value: bool) -> bool:
    """Return a parameter that is True or False; HexsimError for anything else."""
    if not isinstance(value, bool):
        raise HexsimError(f"{name} is True or False, not {value!r:.80}")
    return value
