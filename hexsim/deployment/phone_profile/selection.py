"""Selects the run of a profile that is compared, and the runtime that it is compared with."""

from hexsim.deployment.phone_profile.profile import MeasuredRun, PhoneProfile
from hexsim.errors import HexsimError
from hexsim.runtimes import RUNTIMES, Runtime

_ON_NEWER: dict[str, Runtime] = {"dsp": "htp", "aip": "htp"}
"""What the tools call DSP on chips whose processor is the HTP."""


def selected_run(
    profile: PhoneProfile,
    runtimes: tuple[Runtime, ...],
    runtime: Runtime | None,
    buffer: str | None,
) -> tuple[MeasuredRun, Runtime]:
    """Return the run of `runtime` and `buffer`, where they are given, and its runtime here.

    `runtimes` are those of the platform. Of several runs the first with the stated buffers counts,
    else the first without user buffers, else the first. Raises HexsimError if there is none.
    """
    named = [(run, runtime_here(run, runtimes, runtime)) for run in profile.runs]
    fitting = [(run, here) for run, here in named if here and runtime in (None, here)]
    exact = [pair for pair in fitting if buffer is None or pair[0].buffer in ("", buffer)]
    if not exact:
        there = ", ".join(
            dict.fromkeys(
                f"{run.runtime}{f' with {run.buffer} buffers' if run.buffer else ''}"
                for run in profile.runs
            )
        )
        asked = runtime or "a runtime of this chip"
        buffers = f" with {buffer} buffers" if buffer else ""
        raise HexsimError(
            f"the profile ({profile.format}) has no layers of {asked}{buffers}, only of {there}"
        )
    return min(exact, key=lambda pair: bool(pair[0].buffer) != bool(buffer))


def runtime_here(
    run: MeasuredRun, runtimes: tuple[Runtime, ...], runtime: Runtime | None
) -> Runtime | None:
    """Return the runtime that simulates a run; a run without a name is of the requested one."""
    if not run.runtime:
        return runtime or next((name for name in ("htp", "dsp", "cpu") if name in runtimes), None)
    name = _ON_NEWER.get(run.runtime, run.runtime) if "htp" in runtimes else run.runtime
    return next((known for known in RUNTIMES if known == name), None)
