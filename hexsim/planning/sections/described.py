"""The HTA sections that a model holds, in words and numbers for a report."""

from dataclasses import dataclass

from hexsim.graph.ir import Network
from hexsim.planning.sections.ids import listed
from hexsim.quantization.model import HtaSection, Model


@dataclass(frozen=True)
class SectionInfo:
    """One HTA section: `ids` of its first and last layer, its inputs and outputs.

    `mac_share` is its share of the network's MACs, 0 .. 1; `record_bytes` its size in the file.
    """

    chip: str
    ids: str
    first: str
    last: str
    layers: int
    macs: int
    mac_share: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    record_bytes: int


def hta_sections(model: Model) -> list[SectionInfo]:
    """Return the HTA sections of `model`, those of each chip in the order of the layers."""
    if not model.quantized:
        return []
    return [_section(section, model.network) for section in model.hta]


def _section(section: HtaSection, network: Network) -> SectionInfo:
    index = {layer.name: at for at, layer in enumerate(network.layers)}
    first, last = index[section.layers[0]], index[section.layers[-1]]
    layers = network.layers[first : last + 1]
    inputs, outputs = network.boundary(layers)
    macs = sum(map(network.macs, layers))
    return SectionInfo(
        chip=section.chip,
        ids=listed(network, range(first, last + 1)),
        first=layers[0].name,
        last=layers[-1].name,
        layers=len(layers),
        macs=macs,
        mac_share=macs / max(1, network.total_macs),
        inputs=inputs,
        outputs=outputs,
        record_bytes=len(section.record),
    )
