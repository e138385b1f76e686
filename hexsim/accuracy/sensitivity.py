"""Measure which layers lose most accuracy in integers.

There are two experiments per layer, both with the integer kernels of the runtime: only this layer
is a fixed-point subnet, and all layers but this one are. The inputs and the output of a layer in
integers are quantised as well, so a bad range of a tensor shows in both its neighbours.

Left out: layers that only move codes, layers that fall back to the CPU anyway, and a final
softmax.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hexsim.accuracy.outputs import OutputJudge
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class LayerSensitivity:
    """SQNR of the outputs with only this layer in integers, and with all others."""

    layer: str
    type: str
    only_db: float
    others_db: float


@dataclass(frozen=True)
class Sensitivity:
    """The layers, most sensitive first; `all_db` is the SQNR with every layer in integers."""

    inputs: int
    all_db: float
    layers: tuple[LayerSensitivity, ...]


def sensitivity(
    model: Model,
    judge: OutputJudge,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sensitivity:
    """Measure every layer of `model` on the inputs and the runtime of `judge`."""
    ranked = [
        layer
        for layer in judge.network.layers
        if layer.name in judge.takes and not layer.moves_codes
    ]
    rows = []
    for done, layer in enumerate(ranked, start=1):
        only_db = judge.sqnr_db(model, {layer.name})
        others_db = judge.sqnr_db(model, judge.takes - {layer.name})
        rows.append(LayerSensitivity(layer.name, layer.type, only_db, others_db))
        progress(done, len(ranked))
    rows.sort(key=lambda row: row.only_db)
    return Sensitivity(len(judge.inputs), judge.sqnr_db(model, judge.takes), tuple(rows))
