"""The figures of a simulation under the names that the SNPE tools give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hexsim.runtimes import Engine, Runtime
from hexsim.timing.results import Result

_CELLS: Mapping[Engine, str] = {"cpu": "CPU", "gpu": "GPU", "hvx": "DSP", "hta": "AIP"}


def initialisation(timing: Result) -> Iterator[tuple[str, int]]:
    """Name and picoseconds of each part of making a network ready, and of all of it."""
    yield "Load", timing.init_part_ps("load")
    yield "Deserialize", timing.init_part_ps("deserialize")
    yield "Create", timing.init_part_ps("quantize", "dequantize", "create", "rpc_init")
    yield "Init", timing.init_ps
    yield "RPC Init Time", timing.init_part_ps("rpc_init")


def runtime_cell(engine: Engine, runtime: Runtime) -> str:
    """What the tools say ran a layer: on aip both engines are called AIP."""
    return "AIP" if runtime == "aip" and engine == "hvx" else _CELLS[engine]
