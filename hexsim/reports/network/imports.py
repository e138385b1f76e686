"""What became of the nodes of a file, as text: imported, or left to the CPU, and why."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from hexsim.graph.imports import ImportReport
from hexsim.graph.ir import Layer, Network
from hexsim.layers import Opaque, UserDefined
from hexsim.layers.support import refusal
from hexsim.reports.text import table
from hexsim.runtimes import RUNTIMES

HEADER = ("node", "operator", "falls back from", "reason")


def imports_table(report: ImportReport) -> str:
    """Return totals, then the nodes recognised by each rule, and the opaque ones."""
    lines = [
        f"Nodes of the file: {report.nodes}",
        f"Expanded into standard operators: {_counted(report.expanded.values())}",
        f"Known before the network runs: {_counted(report.folded.values())}",
        f"Without effect: {len(report.removed)}",
        *(f"Note: {note}" for note in report.notes),
    ]
    by_rule = defaultdict(list)
    for recognition in report.recognised:
        by_rule[recognition.rule].append(f"{recognition.layer} ({', '.join(recognition.nodes)})")
    if by_rule:
        rows = [(rule, f"{len(names)}", "; ".join(names)) for rule, names in by_rule.items()]
        lines += [
            "",
            table(
                ("Recognised", "layers", "layer (nodes it took in)"), rows, left=frozenset({0, 2})
            ),
        ]
    by_reason = defaultdict(list)
    for node in report.opaque:
        by_reason[node.operator, node.reason].append(node.name)
    if by_reason:
        cells = [
            (operator, f"{len(names)}", reason, ", ".join(names))
            for (operator, reason), names in by_reason.items()
        ]
        lines += ["", table(("Opaque", "nodes", "why", "names"), cells, left=frozenset({0, 2, 3}))]
    return "\n".join(lines)


def _counted(operators: Iterable[str]) -> str:
    """Return a total and its parts: `7 (3 Constant, 4 Shape)`."""
    counts: dict[str, int] = defaultdict(int)
    for operator in operators:
        counts[operator] += 1
    return f"{sum(counts.values())}{''.join(_listed(counts))}"


def _listed(counts: dict[str, int]) -> Iterator[str]:
    if counts:
        yield (" (" + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) + ")")


def fallback_table(network: Network) -> str:
    """Return a line per layer and reason, then how many layers fall back somewhere."""
    rows = [row for layer in network.layers for row in _rows(layer, network)]
    total = len(network.layers)
    if not rows:
        return f"every runtime takes all {total} layers of {network.name}"
    layers = len({row[0] for row in rows})
    text = table(HEADER, rows, left=frozenset(range(len(HEADER))))
    return f"{text}\n\n{layers} of {total} layers of {network.name} fall back to the CPU runtime"


def opaque_lines(network: Network) -> list[str]:
    """Return a sentence per opaque or user-defined node that the DSP refuses."""
    nodes = [layer for layer in network.layers if isinstance(layer, Opaque | UserDefined)]
    refusals = ((layer, refusal(layer, "dsp", network)) for layer in nodes)
    return [
        f"node '{layer.name}' ({layer.type}): {reason}; it falls back to the CPU runtime"
        for layer, reason in refusals
        if reason is not None
    ]


def _rows(layer: Layer, network: Network) -> list[tuple[str, str, str, str]]:
    reasons: dict[str, list[str]] = {}
    for runtime in RUNTIMES:
        reason = refusal(layer, runtime, network)
        if reason is not None:
            reasons.setdefault(reason, []).append(runtime)
    return [
        (layer.name, layer.type, " ".join(runtimes), reason) for reason, runtimes in reasons.items()
    ]
