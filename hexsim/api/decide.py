"""`hexsim.decide`, `decide_files` and `sweep`: which chip, runtime, mode, cut, file or design."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from hexsim.api.parameters import runtimes_of, source_name, warn_of
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, keeping, require_number, spelled
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.overrides import NO_OVERRIDES
from hexsim.results.decision import Decision, Limits, Preference
from hexsim.results.sweep import Sweep
from hexsim.runtimes import DEFAULT_CHIP, RUNTIMES, Runtime
from hexsim.studies.conditions import Hardware, Idling, Reading, platforms_of
from hexsim.studies.decision import Question, parse_modes
from hexsim.studies.decision import decide as run_decide
from hexsim.studies.decision.files import FileConditions, compare_files, read_files
from hexsim.studies.decision.modes import options_of
from hexsim.studies.decision.parts import keeps_parts
from hexsim.studies.judging import Judging, calibrated_too, roles_of
from hexsim.studies.processes import workers_of
from hexsim.studies.sweep import table
from hexsim.studies.sweep.analysis import analysed
from hexsim.studies.sweep.space import Space, read_space
from hexsim.studies.sweep.table import planned, simulate_parts
from hexsim.studies.uncertainty import FEW, MOST_DRAWS
from hexsim.texts import tables
from hexsim.texts.arguments import arguments_checked


class Deciding(Hardware, Idling, Judging, total=False):
    """How the choices are called and read, and the fields of `Hardware`, `Idling` and `Judging`.

    `perf_profile` and `cpu_fallback` are those of `hexsim.benchmark`.
    """

    perf_profile: str | None
    cpu_fallback: bool


class Choosing(Deciding, total=False):
    """The modes, the limits and the preference, and the settings of `Deciding`.

    `modes` are quantiser modes, by default all. `max_ms`, `max_mb` (MiB at the peak), `max_mj`,
    `max_loss` (percentage points) and `min_db` (SQNR) are limits; None sets none. `prefer` is
    latency, accuracy, memory or energy. Constants in doubt are drawn `draws` times. `sensitivity`
    also ranks the layers of the best quantised choice by quantising one at a time. `input_dims` has
    shapes of inputs by their names.
    """

    input_dims: Mapping[str, Sequence[int]]
    modes: str | Sequence[str] | None
    max_ms: float | None
    max_mb: float | None
    max_mj: float | None
    max_loss: float | None
    min_db: float | None
    prefer: Preference
    draws: int | None
    sensitivity: bool


class Loading(Deciding, Reading, total=False):
    """The settings of `Deciding` and `Reading`, and the file of which a quantised one was made."""

    float_model: Model | str | Path | None


@arguments_checked
def decide(
    model: Model | str | Path,
    chips: str | Path | Sequence[str | Path] = DEFAULT_CHIP,
    runtime: Runtime | Sequence[Runtime] | None = None,
    **how: Unpack[Choosing],
) -> Decision:
    """Choose chip, runtime, quantiser mode and cut for a float model, as `hexsim decide` does.

    `runtime` None is all of each chip. `how` are the fields of `Choosing` and `Deciding`. The
    decision has no `choices` if nothing is within the limits. Raises HexsimError if nothing can
    run.
    """
    platforms = _platforms(chips, how)
    runtimes, (modes, mixed) = runtimes_of(runtime), parse_modes(how.get("modes"))
    limits: dict[str, Any] = {name: how.get(name) for name in Limits.__struct_fields__}
    for name in ("max_ms", "max_mb", "max_mj"):
        if limits[name] is not None:
            require_number(spelled(name), limits[name], 0.0, math.inf)
    prefer, draws = how.get("prefer", "latency"), how.get("draws")
    if draws is not None:
        require_number(spelled("draws"), draws, 0, MOST_DRAWS)
    source, dims = source_name(model), how.get("input_dims") or {}
    read = load_container(source, input_dims=dims)
    require_float(read.model)
    on = (runtimes or RUNTIMES) if any(mode.quantizes for mode in modes) else ()
    inputs = roles_of(how, read.model, NO_OVERRIDES, on)
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
        draws=FEW if draws is None else draws,
        sensitivity=how.get("sensitivity", False),
        input_dims=dims,
        options=None if isinstance(model, Model) else options_of(str(model), how, inputs),
    )
    if not keeps_parts(read.model.network):
        return run_decide(question)
    with keeping("what was computed is kept"):
        return run_decide(question)


@arguments_checked
def decide_files(
    model: Model | str | Path,
    chips: str | Path | Sequence[str | Path] = DEFAULT_CHIP,
    runtime: Runtime | Sequence[Runtime] | None = None,
    **how: Unpack[Loading],
) -> Decision:
    """Compare a float and a quantised file on every runtime, as `hexsim decide` does with files.

    A float model is quantised for it. `how` are the fields of `Loading`, `Reading` and
    `Deciding`. Raises HexsimError if a file cannot be read, or no chip has the runtimes.
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
    inputs = roles_of(how, files.judged, files.compared.overrides, on)
    conditions = FileConditions(
        runtimes=runtimes,
        perf_profile=how.get("perf_profile"),
        idle_ms=how.get("idle_ms", 0.0),
        cpu_fallback=how.get("cpu_fallback", True),
        hta=how.get("hta", True),
        remark=calibrated_too(how, files.compared.quantizer_command),
    )
    decision = compare_files(files, platforms, inputs, conditions)
    warn_of((decision.network, decision.findings))
    return decision


def _platforms(chips: str | Path | Sequence[str | Path], how: Deciding) -> list[Platform]:
    platforms = platforms_of(chips, how)
    for platform in platforms:
        platform.stack.profile(how.get("perf_profile"))
    return platforms


@arguments_checked
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
        settled = tables.read(Space, space.space, "the space")
        return analysed(table.Swept(space.table, settled, space.version), pareto, best)
    if isinstance(space, str | Path) and Path(space).suffix == ".parquet":
        return show(space, pareto, best)
    with TemporaryDirectory(prefix="hexsim-") as folder:
        written = Path(folder) / "sweep.parquet" if output is None else Path(output)
        write_points(space, written, anchor=anchor, vtcm_mb=vtcm_mb, workers=workers)
        return analysed(table.read(written), pareto, best, str(output or "the space"))


def show(results: str | Path, pareto: str | Sequence[str], best: str | None) -> Sweep:
    """Analyse the points that a sweep wrote to a file."""
    return analysed(table.read(Path(results)), pareto, best, str(results))


def write_points(
    space: str | Path | Mapping[str, Any],
    output: Path,
    *,
    anchor: str | None = None,
    vtcm_mb: float | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    most_points: float = math.inf,
) -> int:
    """Simulate every point of a space, write all to `output`, and return their number.

    Raises HexsimError, naming file and key, for a space that cannot be swept, and for one of more
    than `most_points`.
    """
    table.require_libraries()
    design = read_space(space if isinstance(space, Mapping) else Path(space))
    design = design.stated_by(anchor, vtcm_mb)
    if design.count > most_points:
        raise HexsimError(
            f"the space of '{space}' has {design.count} points; make it smaller, or give "
            f"{spelled('yes', True)}"
        )
    parts = planned(design, output)
    kept = keeping(f"points that are done are kept in '{parts.folder}'")
    with kept, workers_of(workers, scheduler) as pool:
        simulate_parts(pool, parts)
    parts.finish(output)
    return len(parts.points)
