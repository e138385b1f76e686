"""The results of a benchmark as CSV, with the row names of snpe_bench."""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from hexsim.results.benchmark import Inference
from hexsim.results.costs import LayerCost, Millijoule
from hexsim.studies.row_names import IN_CSV
from hexsim.texts.csv_text import csv_text

_CASE = ("network", "chip", "stack", "runtime", "perf_profile")
HEADER = (
    *_CASE,
    *("row", "engine", "us", "us_low", "us_high", "bytes", "mj", "mj_low", "mj_high"),
)


def benchmark_csv(cases: Sequence[Inference]) -> str:
    """Return the cases as CSV text; times in microseconds.

    The rows are those of snpe_bench.py (`hexsim.studies.row_names`): initialisation, inference,
    then `layer_000 (Name:data Type:data)` and so on, numbered as snpe-dlc-info numbers layers, with
    the inputs of the network first. `us_low` and `us_high` are the bounds of the uncertainty
    interval and empty without one. `bytes` is the peak of memory in the row of the total, and the
    live activations in rows of layers. `mj`, `mj_low` and `mj_high` are the energy of the total and
    of layers.
    """
    which = attrgetter(*_CASE)
    return csv_text(HEADER, ((*which(case), *row) for case in cases for row in _rows(case)))


def _rows(case: Inference) -> Iterator[tuple[str, ...]]:
    doubt = case.uncertainty
    bounds = {
        "Total Inference Time": doubt.total_inference_us if doubt else (),
        "Forward Propagate Time": doubt.forward_propagate_us if doubt else (),
    }
    for name, us in case.snpe_rows.items():
        ends = [f"{end:.3f}" for end in bounds.get(name, ())] or ["", ""]
        is_total = name == "Total Inference Time"
        peak = f"{case.memory.peak_bytes}" if is_total else ""
        energy_cells = _mj(case.energy if is_total else None)
        yield IN_CSV.get(name, name), "", f"{us:.3f}", *ends, peak, *energy_cells
    live = {layer.name: f"{layer.live_bytes}" for layer in case.memory.layers}
    for index, name in enumerate(case.inputs):
        yield f"layer_{index:03d} (Name:{name} Type:data)", "", "0.000", "", "", "", *_mj(None)
    for index, layer in enumerate(case.layers, len(case.inputs)):
        yield _layer_row(index, layer, live.get(layer.name, ""))


def _layer_row(index: int, layer: LayerCost, live: str) -> tuple[str, ...]:
    row = f"layer_{index:03d} (Name:{layer.name} Type:{layer.type})"
    return row, layer.engine, f"{layer.us:.3f}", "", "", live, *_mj(layer)


def _mj(energy: Millijoule | LayerCost | None) -> tuple[str, str, str]:
    if energy is None:
        return "", "", ""
    return f"{energy.mj:.6f}", f"{energy.mj_low:.6f}", f"{energy.mj_high:.6f}"
