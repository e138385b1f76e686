"""ImportReport: how each node of an ONNX file was imported, and why some have no layer."""

from collections.abc import Mapping

from hexsim.graph.ir import Layer, Network
from hexsim.records import dataclass, field, replace


@dataclass(frozen=True)
class Recognised:
    """Nodes, by name, that `rule` combined into one layer."""

    rule: str
    layer: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class OpaqueNode:
    """A node without a layer type, which the CPU runs unchanged, and the reason."""

    name: str
    operator: str
    reason: str


@dataclass(frozen=True)
class ImportReport:
    """How the nodes of a file were imported, all by their names.

    `expanded` are nodes that were replaced by several standard ones and `folded` those with
    constant results, each with its operator. `removed` are nodes without effect or without readers,
    including the file's own quantising nodes. `notes` are sentences on other changes.
    """

    nodes: int = 0
    expanded: Mapping[str, str] = field(default_factory=dict)
    folded: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    recognised: tuple[Recognised, ...] = ()
    opaque: tuple[OpaqueNode, ...] = ()
    notes: tuple[str, ...] = ()


def layer_kind(layer: Layer) -> str:
    """Return the type of a layer, or its function if it has one."""
    return str(getattr(layer, "function", layer.type))


def after_passes(
    report: ImportReport, recognised: tuple[Recognised, ...], before: Network, after: Network
) -> ImportReport:
    """Return the report updated after optimisation of `before`, the network as it was read."""
    remaining = {name for layer in after.layers for name in (layer.name, *layer.fused)}
    return replace(
        report,
        recognised=recognised,
        removed=(
            *report.removed,
            *(layer.name for layer in before.layers if layer.name not in remaining),
        ),
        opaque=tuple(node for node in report.opaque if node.name in remaining),
    )
