"""How wrong simulated times of layers have been, by class of layer: layer_factors.csv.

`python -m benchmarks.layer_times` writes the file. It compares the times of single
layers in layer_latency.csv, which are of one chip and one release, with simulated ones.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

from hexsim.datasheets.measurements.csv_rows import read_rows

FACTORS_FILE = Path(__file__).with_name("layer_factors.csv")


@dataclass(frozen=True)
class LayerFactor:
    """The median factor of the measured layers of one class on one runtime.

    A factor is the ratio of simulated and measured time or its reciprocal, whichever is larger.
    """

    runtime: str
    layer_class: str
    layers: int
    factor: float


@functools.cache
def layer_factors() -> tuple[LayerFactor, ...]:
    """Read the factors, in file order."""
    return read_rows(FACTORS_FILE.name, LayerFactor, layer_class=lambda record: record["class"])
