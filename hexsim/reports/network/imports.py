"""How the nodes of an ONNX file were imported, as text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from hexsim.graph.imports import ImportReport
from hexsim.reports.text import table


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
