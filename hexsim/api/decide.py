"""`hexsim.decide`, `decide_files` and `sweep`: which chip, runtime, mode, cut, file or design."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from hexsim.api import warn_of
from hexsim.api.benchmark import labels_of, runtimes_of, source_name
from hexsim.api.hardware import Hardware, hardware
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, keywords_checked, require_number, unknown, warn_caller
from hexsim.inputs.input_sets import InputSets, read_inputs
from hexsim.inputs.source import InputRoles
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.results.decision import Decision, Limits, Preference
from hexsim.results.sweep import Sweep
from hexsim.runtimes import FIXED_POINT, RUNTIMES, Runtime
from hexsim.studies.decision import PREFERENCES, Question, parse_modes
from hexsim.studies.decision import decide as run_decide
from hexsim.studies.decision.files import FileConditions, compare_files, read_files
from hexsim.studies.decision.modes import options_of
from hexsim.studies.judging import NamedInputs
from hexsim.studies.processes import workers as started
from hexsim.studies.sweep import table
from hexsim.studies.sweep.analysis import analysed
from hexsim.studies.sweep.space import Space, read_space
from hexsim.studies.sweep.table import planned, simulate_parts
from hexsim.studies.uncertainty import FEW

CHIPS = ("sd835", "sd855", "sd865")
"""The chips to choose from, where none are named."""


class Asked(Hardware, total=False):
    """The chips' settings, and the inputs that judge; as for `hexsim.benchmark`."""

    perf_profile: str | None
    idle_ms: float
    power_collapse: bool
    cpu_fallback: bool
    input_dims: Mapping[str, Sequence[int]]
    inputs: InputSets
    calibration: InputSets
    labels: Sequence[int | Sequence[int]] | str | Path


class Choosing(Asked, total=False):
    """The modes, the limits and the preference, and the settings of `Asked`.

    `modes` are quantiser modes, by default all. `max_ms`, `max_mb` (MiB at the peak), `max_mj`,
    `max_loss` (percentage points) and `min_db` (SQNR) are limits; None sets none. `prefer` is
    latency, accuracy, memory or energy. Constants in doubt are drawn `draws` times. `sensitivity`
    also ranks the layers of the best quantised choice by quantising one at a time.
    """

    modes: str | Sequence[str] | None
    max_ms: float | None
    max_mb: float | None
    max_mj: float | None
    max_loss: float | None
    min_db: float | None
    prefer: Preference
    draws: int
    sensitivity: bool


class Loading(Asked, total=False):
    """How the files to compare are read, and the settings of `Asked`.

    `float_model` is what a quantised model was made from. `override_params` and `hta` are those of
    `hexsim.benchmark`.
    """

    float_model: Model | str | Path | None
    override_params: bool | None
    hta: bool


@keywords_checked
def decide(
    model: Model | str | Path,
    chips: str | Path | Sequence[str | Path] = CHIPS,
    runtime: Runtime | Sequence[Runtime] | None = None,
    **how: Unpack[Choosing],
) -> Decision:
    """Choose chip, runtime, quantiser mode and cut for a float model, as `hexsim decide` does.

    `runtime` None is all of each chip. `how` are the fields of `Choosing` and `Asked`. The decision
    has no `choices` if nothing is within the limits. Raises HexsimError if nothing can run.
    """
    platforms = _platforms(chips, how)
    runtimes, (modes, mixed) = runtimes_of(runtime), parse_modes(how.get("modes"))
    limits: dict[str, Any] = {name: how.get(name) for name in Limits.__struct_fields__}
    for name in ("max_ms", "max_mb", "max_mj"):
        if limits[name] is not None:
            require_number(name, limits[name], 0.0, math.inf)
    prefer = how.get("prefer", "latency")
    if prefer not in PREFERENCES:
        raise unknown("preference", str(prefer), PREFERENCES)
    source, dims = source_name(model), how.get("input_dims") or {}
    read = load_container(source, input_dims=dims)
    require_float(read.model)
    on = (runtimes or RUNTIMES) if any(mode.quantizes for mode in modes) else ()
    inputs = _roles(read.model, NO_OVERRIDES, how, on)
    question = Question(
        source=source,
        read=read,
        inputs=inputs.judging,
        platforms=platforms,
        calibration=inputs.calibrating,
        labels=inputs.labels,
        runtimes=runtimes,
        modes=modes,
        mixed=mixed,
        limits=Limits(**limits),
        prefer=prefer,
        perf_profile=how.get("perf_profile"),
        idle_ms=how.get("idle_ms", 0.0),
        cpu_fallback=how.get("cpu_fallback", True),
        draws=how.get("draws", FEW),
        sensitivity=how.get("sensitivity", False),
        input_dims=dims,
        options=None if isinstance(model, Model) else options_of(str(model), how, inputs),
    )
    return run_decide(question)


@keywords_checked
def decide_files(
    model: Model | str | Path,
    chips: str | Path | Sequence[str | Path] = CHIPS,
    runtime: Runtime | Sequence[Runtime] | None = None,
    **how: Unpack[Loading],
) -> Decision:
    """Compare a float and a quantised file on every runtime, as `hexsim decide` does with files.

    A float model is quantised for it. `how` are the fields of `Loading` and `Asked`. Raises
    HexsimError if a file cannot be read, or no chip has the runtimes.
    """
    platforms, runtimes = _platforms(chips, how), runtimes_of(runtime)
    floats = how.get("float_model")
    files = read_files(
        source_name(model),
        None if floats is None else source_name(floats),
        input_dims=how.get("input_dims") or {},
        override_params=how.get("override_params"),
    )
    on = runtimes or [name for platform in platforms for name in platform.runtimes]
    inputs = _roles(files.judged, files.compared.overrides, how, on)
    conditions = FileConditions(
        runtimes=runtimes,
        perf_profile=how.get("perf_profile"),
        idle_ms=how.get("idle_ms", 0.0),
        cpu_fallback=how.get("cpu_fallback", True),
        hta=how.get("hta", True),
    )
    decision = compare_files(files, platforms, inputs, conditions)
    warn_of(decision.findings)
    return decision


def _roles(
    model: Model, overrides: Overrides, how: Asked, runtimes: Sequence[Runtime]
) -> InputRoles:
    """Return the inputs that judge, and those that calibrate what is quantised."""
    network, calibration = model.network, how.get("calibration")
    judging = read_inputs(how.get("inputs"), network)
    named = NamedInputs(
        judging,
        labels_of(how.get("labels"), judging, network),
        calibration=None if calibration is None else lambda: read_inputs(calibration, network),
    )
    in_codes = not FIXED_POINT.isdisjoint(runtimes)
    return named.roles(model, overrides, in_codes=in_codes, remark_on=warn_caller)


def _platforms(chips: str | Path | Sequence[str | Path], how: Asked) -> list[Platform]:
    named = [chips] if isinstance(chips, str | Path) else list(chips)
    require_number("idle_ms", how.get("idle_ms", 0.0), 0.0, math.inf)
    platforms = hardware(named, how)
    if not how.get("power_collapse", True):
        platforms = [platform.without_power_collapse() for platform in platforms]
    if not platforms:
        raise HexsimError("chips names no chip; give one or more, as ['sd855', 'sd865']")
    if len({platform.chip.name for platform in platforms}) < len(platforms):
        raise HexsimError("chips names two chips of one name; give each a name of its own")
    for platform in platforms:
        platform.stack.profile(how.get("perf_profile"))
    return platforms


@keywords_checked
def sweep(
    space: str | Path | Mapping[str, Any] | Sweep,
    pareto: str | Sequence[str] = "latency",
    *,
    best: str | None = None,
    output: str | Path | None = None,
    anchor: str | None = None,
    vtcm_mb: float | None = None,
    workers: int | None = None,
) -> Sweep:
    """Simulate every point of a space, as `hexsim sweep` does, and show those that nothing beats.

    `space` is a TOML file or what it would hold; a .parquet file that a sweep wrote, or an earlier
    sweep, is analysed without simulating. `pareto` are the figures of the front, and `best` a
    condition such as "latency_ms < 5". All points are written to `output`, if it is given, and a
    sweep that was interrupted goes on from there. `workers` are processes, by default one per core.
    Raises HexsimError, naming file and key, for a space that cannot be swept.
    """
    if isinstance(space, Sweep):
        if space.table is None:
            raise HexsimError("a sweep that was read from JSON has no points; give its .parquet")
        settled = Space.model_validate(space.space)
        return analysed(table.Swept(space.table, settled, space.version), pareto, best)
    if isinstance(space, str | Path) and Path(space).suffix == ".parquet":
        return analysed(table.read(Path(space)), pareto, best, str(space))
    table.require_libraries()
    design = read_space(space if isinstance(space, Mapping) else Path(space))
    with TemporaryDirectory(prefix="hexsim-") as folder:
        written = Path(folder) / "sweep.parquet" if output is None else Path(output)
        parts = planned(design.stated_by(anchor, vtcm_mb), written, lambda what: None)
        with started(None, workers or os.cpu_count() or 1) as pool:
            simulate_parts(pool, parts, lambda done: None)
        parts.finish(written)
        return analysed(table.read(written), pareto, best, str(output or "the space"))
