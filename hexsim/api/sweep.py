"""`hexsim.sweep`: the points of a space of designs, and what matters to them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hexsim.errors import HexsimError, keywords_checked
from hexsim.results.sweep import Sweep
from hexsim.studies.sweep import table
from hexsim.studies.sweep.analysis import analysed
from hexsim.studies.sweep.parts import planned, simulate_parts
from hexsim.studies.sweep.space import Space, read_space
from hexsim.studies.workers import workers as started


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
