"""A model as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hexsim import __version__
from hexsim.dlc import Container
from hexsim.dlc.inspection import LETTERS, inspect
from hexsim.graph.imports import ImportReport
from hexsim.planning.sections.described import hta_sections
from hexsim.reports.document import json_document
from hexsim.reports.inference.memory import NeededOn, memory_facts
from hexsim.reports.network.imports import imports_json
from hexsim.reports.network.table import layers_used

if TYPE_CHECKING:
    from hexsim.accuracy.rescaling import RescalingLoss


def info_facts(
    source: str,
    container: Container,
    losses: Sequence[RescalingLoss] | None = None,
    imports: ImportReport | None = None,
    needed: NeededOn | None = None,
) -> dict[str, Any]:
    """Return heading, layers and totals; encodings with every channel.

    `losses` are those of rescaling the weights for a chip, None if no chip was named. `imports` is
    the report on importing an ONNX file. `needed` is the memory of an inference, None if it was not
    requested.
    """
    network = container.model.network
    rows = inspect(container.model)
    facts: dict[str, Any] = {
        "hexsim_version": __version__,
        "source": source,
        "network": network.name,
        "quantized": container.model.quantized,
        "metadata": asdict(container.metadata),
        "layers": [{**asdict(row), "runtimes": [LETTERS[c] for c in row.runtimes]} for row in rows],
        "total_parameters": network.total_parameters,
        "total_macs": network.total_macs,
        "layers_used": layers_used(rows),
        "hta_sections": [asdict(section) for section in hta_sections(container.model)],
        "rescaled_weights": None if losses is None else [asdict(loss) for loss in losses],
    }
    if imports is not None:
        facts["imports"] = imports_json(imports)
    if needed is not None:
        where = {"runtime": needed.runtime, "chip": needed.chip}
        facts["memory"] = where | memory_facts(needed.memory)
        facts["prepared"] = needed.prepared and asdict(needed.prepared)
    return facts


def info_json(
    source: str,
    container: Container,
    losses: Sequence[RescalingLoss] | None = None,
    imports: ImportReport | None = None,
    needed: NeededOn | None = None,
) -> str:
    """Return `info_facts` as a JSON document."""
    return json_document(info_facts(source, container, losses, imports, needed))
