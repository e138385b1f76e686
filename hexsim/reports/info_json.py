"""What a model consists of, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from hexsim import __version__
from hexsim.container import Container
from hexsim.container.inspection import LETTERS, inspect
from hexsim.quantization.quantized import QuantizedNetwork, float_network
from hexsim.reports.info_table import layers_used
from hexsim.sections.described import hta_sections


def info_json(source: str, container: Container) -> str:
    """Return heading, layers and totals as a JSON document; encodings with every channel."""
    network = float_network(container.model)
    rows = inspect(container.model)
    document = {
        "hexsim_version": __version__,
        "source": source,
        "network": network.name,
        "quantized": isinstance(container.model, QuantizedNetwork),
        "metadata": asdict(container.metadata),
        "layers": [{**asdict(r), "runtimes": [LETTERS[c] for c in r.runtimes]} for r in rows],
        "total_parameters": network.total_parameters,
        "total_macs": network.total_macs,
        "layers_used": layers_used(rows),
        "hta_sections": [asdict(section) for section in hta_sections(container.model)],
    }
    return json.dumps(document, indent=1) + "\n"
