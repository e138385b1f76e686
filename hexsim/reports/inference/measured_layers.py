"""How wrong the times of measured layers have been, for the classes of layers of one inference."""

from collections.abc import Iterable, Sequence

from hexsim.datasheets.measurements.layer_factors import LayerFactor, layer_factors
from hexsim.results.costs import LayerCost
from hexsim.runtimes import Engine
from hexsim.texts.figures import figure

_RUNTIMES: dict[Engine, str] = {"hvx": "dsp", "cpu": "cpu", "gpu": "gpu"}


def measured_layers(
    layers: Iterable[LayerCost], factors: Sequence[LayerFactor] | None = None
) -> list[str]:
    """Return a line per engine with the median factors of the classes that have been measured.

    There is no line for an engine none of whose classes has been measured. `factors` are those of
    layer_factors.csv by default.
    """
    known = layer_factors() if factors is None else factors
    present = {(_RUNTIMES.get(layer.engine), layer.layer_class) for layer in layers}
    lines = []
    for engine, runtime in _RUNTIMES.items():
        parts = [
            f"{factor.layer_class} {figure(factor.factor)} ({factor.layers} layers)"
            for factor in known
            if factor.runtime == runtime and (runtime, factor.layer_class) in present
        ]
        if parts:
            lines.append(
                f"median factor between measured and simulated layers of {engine}: "
                f"{', '.join(parts)}; sd865, snpe-1.63"
            )
    return lines
