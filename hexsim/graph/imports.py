"""ImportReport: what became of each node of an ONNX file, and why some have no layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hexsim.graph.ir import Layer, Network


@dataclass(frozen=True)
class Recognised:
    """Layers, by the names of their nodes, that `rule` made one layer of."""

    rule: str
    layer: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class OpaqueNode:
    """A node without a layer, which the CPU runs as it is, and why."""

    name: str
    operator: str
    reason: str


@dataclass(frozen=True)
class ImportReport:
    """What a file's nodes became, all by their names.

    `expanded` are nodes that stand for several standard ones and `folded` those that are known
    before the network runs, each with its operator. `removed` had no effect, or nobody reads what
    they write; the file's own quantising nodes are among them. `notes` are sentences on what was
    changed.
    """

    nodes: int = 0
    expanded: Mapping[str, str] = field(default_factory=dict)
    folded: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    recognised: tuple[Recognised, ...] = ()
    opaque: tuple[OpaqueNode, ...] = ()
    notes: tuple[str, ...] = ()


def what(layer: Layer) -> str:
    """The type of a layer, or its function if it has one."""
    return str(getattr(layer, "function", layer.type))


def settled(
    report: ImportReport, recognised: tuple[Recognised, ...], before: Network, after: Network
) -> ImportReport:
    """Return the report of `before`, the network as it was read, once it is optimised."""
    left = {name for layer in after.layers for name in (layer.name, *layer.fused)}
    return replace(
        report,
        recognised=recognised,
        removed=(
            *report.removed,
            *(layer.name for layer in before.layers if layer.name not in left),
        ),
        opaque=tuple(one for one in report.opaque if one.name in left),
    )
