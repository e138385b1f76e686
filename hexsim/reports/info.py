"""A model as text and CSV: a short list of its layers, or the layout of snpe-dlc-info.

The short list leaves out attributes and encodings. With the memory of an inference there are more
columns, and lines at the end. Left out of the layout of snpe-dlc-info: SNPE's own estimate of
memory, whose rule is not public, and the copyright line.

Also what became of the nodes of a file.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from hexsim.errors import spelled
from hexsim.graph.imports import ImportReport
from hexsim.graph.ir import Shape
from hexsim.quantization.overrides import is_overridden
from hexsim.reports.inference import memory_line, prepared_lines
from hexsim.reports.summary import supported_text
from hexsim.reports.text import Fitted, number, table
from hexsim.results.accuracy import db_text
from hexsim.results.conversion import Conversion
from hexsim.results.costs import LayerMemory
from hexsim.results.info import LETTERS, TARGETS, Info, InfoLayer, LayerTimes, MemoryOn
from hexsim.results.validation import RescaledWeight, worst_rescaled
from hexsim.runtimes import LayerTarget
from hexsim.texts.csv_text import csv_text
from hexsim.texts.figures import figure, size

FALLBACKS_HEADER = ("node", "operator", "falls back from", "reason")


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


def conversion_text(done: Conversion) -> str:
    """Return the file that was written; without one the layers that fall back, and how many."""
    if done.file is not None:
        size = f"{done.macs:,} MACs, {done.parameters:,} parameters"
        return f"wrote {done.file}: {number(done.layers, 'layer')}, {size}"
    if not done.fallbacks:
        return f"every runtime takes all {done.layers} layers of {done.network}"
    rows = [(row.layer, row.type, " ".join(row.runtimes), row.reason) for row in done.fallbacks]
    text = table(FALLBACKS_HEADER, rows, left=frozenset(range(len(FALLBACKS_HEADER))))
    layers = len({row.layer for row in done.fallbacks})
    return (
        f"{text}\n\n{layers} of {done.layers} layers of {done.network} fall back to the CPU runtime"
    )


INFO_HEADER = ("id", "layer", "type", "output", "runs on", "MACs", "parameters")

SNPE_HEADER = ("Id", "Name", "Type", "Inputs", "Outputs", "Out Dims", "Runtimes", "Parameters")
_FIRST_TO_GO = tuple(map(SNPE_HEADER.index, ("Outputs", "Inputs", "Parameters", "Runtimes")))

_SECTION_HEADER = (
    *("HTA section for", "layer ids", "first layer", "last layer", "layers", "MACs"),
    *("inputs", "outputs", "record bytes"),
)
_FLOAT_BYTES = 4

_MEMORY = {
    "weight_bytes": "Weight Bytes",
    "packed_bytes": "Packed Bytes",
    "live_bytes": "Live Bytes",
    "on_chip_bytes": "On-chip Bytes",
}


def info_text(answer: Info, *, layout: str = "compact") -> str:
    """Return the list in a layout, "compact" or "snpe", then imports and rescaled weights."""
    parts = [info_table(answer) if layout == "snpe" else info_compact(answer)]
    if answer.imports is not None:
        parts.append(imports_table(answer.imports))
    if answer.rescaled_weights is not None and answer.times is not None:
        parts.append(rescaling_table(answer.rescaled_weights, answer.times.chip))
    return "\n\n".join(parts)


def info_compact(answer: Info) -> str:
    """Return heading, table of layers and footer."""
    header: tuple[str, ...] = INFO_HEADER
    rows = [_short(row) for row in answer.layers]
    if answer.times is not None:
        header, known = (*header, "us"), answer.times.layers_us
        rows = [(*row, figure(known[row[1]]) if row[1] in known else "") for row in rows]
    if answer.memory is not None:
        header, live = (*header, "live KiB", "weights KiB"), _by_name(answer.memory)
        rows = [
            (
                *row,
                figure(live[row[1]].live_bytes / 2**10),
                figure((live[row[1]].weight_bytes + live[row[1]].packed_bytes) / 2**10),
            )
            if row[1] in live
            else (*row, "", "")
            for row in rows
        ]
    first_to_go = tuple(map(header.index, ("type", "parameters", "runs on", "output")))
    lines = (
        _heading(answer),
        "",
        table(header, rows, left=frozenset({1, 2, 3, 4}), first_to_go=first_to_go),
        "",
        f"runs on: {_key(answer)}; by the rules of {answer.rules}",
        _supported(answer, answer.targets),
        *(f"input '{name}', pictures: {steps}" for name, steps in answer.pictures.items()),
        *_times(answer.times),
        *_ends(answer),
    )
    return "\n".join(lines)


def _key(answer: Info) -> str:
    """Return the letters of the runtimes that the layers were tried on."""
    names = TARGETS.items()
    return ", ".join(f"{letter} {name}" for letter, name in names if name in answer.targets)


def _heading(answer: Info) -> str:
    kind = "quantised" if answer.quantized else "float"
    layers = number(len(answer.computing), "layer")
    work = f"{answer.total_macs:,} MACs, {answer.total_parameters:,} parameters"
    return f"{Path(answer.source).name}: {kind}, {layers}, {work}"


def _short(row: InfoLayer) -> tuple[str, ...]:
    function = row.attributes.get("function")
    return (
        f"{row.id}",
        row.name,
        f"{row.type} {function}" if function else row.type,
        ", ".join(output_dims(row)),
        row.letters,
        f"{row.macs:,}" if row.macs else "",
        f"{row.param_count:,}" if row.param_count else "",
    )


def _supported(answer: Info, among: Sequence[LayerTarget]) -> str:
    rows = [(row.runtimes, row.macs) for row in answer.computing]
    return supported_text(rows, [target for target in among if target in answer.targets])


def _times(times: LayerTimes | None) -> Iterator[str]:
    if times is not None:
        yield (
            f"us: on {times.runtime} of {times.chip}, as simulated; an inference takes "
            f"{figure(times.total_us)} us with its overheads"
        )


def info_table(answer: Info) -> str:
    """Return heading, table of layers and footer in the layout of snpe-dlc-info."""
    source, metadata = answer.source, answer.metadata
    parameters, macs = answer.total_parameters, answer.total_macs
    cells = [_cells(row, parameters, macs) for row in answer.layers]
    header: tuple[str, ...] = SNPE_HEADER
    if answer.memory is not None:
        header, known = (*SNPE_HEADER, "Memory"), _by_name(answer.memory)
        cells = [
            (*cell, _memory(None if row.type == "data" else known.get(row.name)))
            for cell, row in zip(cells, answer.layers, strict=True)
        ]
    runtimes = (f"{letter}:{runtime.upper()}" for letter, runtime in LETTERS.items())
    megabytes = parameters * _FLOAT_BYTES // 2**20
    lines = (
        f"DLC info for: {Path(source).absolute() if Path(source).exists() else source}",
        f"Model Version: {metadata.model_version}",
        *_table(header, cells),
        "Note: The runtimes column follows the rules of SNPE 1.x (docs/reference/layers.md)",
        "Key : " + "\n      ".join(runtimes),
        "",
        f"Total parameters: {parameters} ({megabytes} MB assuming single precision float)",
        f"Total MACs per inference: {count(macs)} (100%)",
        _supported(answer, tuple(LETTERS.values())),
        f"Converter command: {metadata.converter_command}",
        f"Quantizer command: {metadata.quantizer_command}",
        f"DLC created with converter version: {metadata.converter_version}",
        f"Layers used by DLC: {', '.join(answer.layers_used)}",
        *_ends(answer),
    )
    return "\n".join(lines)


def _ends(answer: Info) -> Iterator[str]:
    """Yield what both layouts end with: HTA sections, prepared graphs, and memory if requested."""
    if answer.hta_sections:
        rows = [
            (
                *(section.chip, section.ids, section.first, section.last),
                *(f"{section.layers}", f"{section.mac_share:.0%}"),
                *(", ".join(section.inputs), ", ".join(section.outputs), f"{section.record_bytes}"),
            )
            for section in answer.hta_sections
        ]
        yield "\nAIP Info:"
        yield table(_SECTION_HEADER, rows, left=frozenset({0, 1, 2, 3, 6, 7}))
    for graph in answer.graphs:
        binary = size(graph.binary_bytes)
        yield f"prepared for {graph}: context binary of {binary} (estimate)"
    if answer.memory is not None:
        yield f"\nOn {answer.memory.runtime} of {answer.memory.chip}:"
        yield memory_line(answer.memory)
        if answer.prepared is not None:
            yield prepared_lines(answer.prepared)


def _by_name(memory: MemoryOn) -> dict[str, LayerMemory]:
    return {layer.name: layer for layer in memory.layers}


def _cells(row: InfoLayer, parameters: int, macs: int) -> tuple[Sequence[str], ...]:
    """Return the lines of each cell."""
    return (
        (f"{row.id}",),
        (row.name,),
        (row.type,),
        row.inputs,
        row.outputs,
        output_dims(row),
        (" ".join(row.snpe_letters),),
        list(parameter_lines(row, parameters, macs)),
    )


def _memory(layer: LayerMemory | None) -> Sequence[str]:
    """Return the lines of the column Memory."""
    if layer is None:
        return ()
    weights = layer.weight_bytes + layer.packed_bytes
    lines = [f"live: {size(layer.live_bytes)}"]
    return [*lines, f"weights: {size(weights)}"] if weights else lines


def _table(header: Sequence[str], rows: Sequence[tuple[Sequence[str], ...]]) -> Iterator[str]:
    """Yield the lines of a table with rules above and below its heading and at its end."""
    lines = [line for row in rows for line in zip_longest(*row, fillvalue="")]
    all_columns = frozenset(range(len(header)))
    fitted = Fitted((header, *lines), all_columns, _FIRST_TO_GO, gap=3, border=4)
    widths = [fitted.widths[column] for column in fitted.columns]
    rule = "-" * (sum(widths) + 3 * len(widths) + 1)
    yield rule
    for index, line in enumerate((header, *lines)):
        for cells in fitted.broken(line):
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            yield f"| {' | '.join(padded)} |"
        if index == 0:
            yield rule
    yield rule
    yield from filter(None, [fitted.remark()])


def _remedy() -> str:
    options = f"{spelled('symmetric_weights', True)}, {spelled('axis_weights', True)}"
    return f"symmetric weights ({options}) are taken as they are"


def rescaling_line(losses: Sequence[RescaledWeight]) -> str:
    """Return a line that names the worst layer."""
    loss = worst_rescaled(losses)
    return (
        f"weights rescaled to signed ones at load: {len(losses)}, worst '{loss.layer}' with "
        f"{db_text(loss.sqnr_db)} dB, max error {figure(loss.max_error)} ({figure(loss.steps)} "
        f"steps); {_remedy()}"
    )


def rescaling_table(losses: Sequence[RescaledWeight], chip: str) -> str:
    """Return all losses in network order."""
    if not losses:
        return f"{chip} rescales no weights at load"
    header = ("layer", "weight", "SQNR dB", "max error", "in steps")
    rows = [
        (loss.layer, loss.weight, db_text(loss.sqnr_db), figure(loss.max_error), figure(loss.steps))
        for loss in losses
    ]
    head = (
        f"{chip} rescales asymmetric weights per output channel to signed ones at load; {_remedy()}"
    )
    return f"{head}\n{table(header, rows, left=frozenset({0, 1}))}"


def dims(shape: Shape, varies: Sequence[int] = ()) -> str:
    """Return `1x224x224x3`, or `<=100x4` if the size of the first axis is an upper bound."""
    sizes = (f"<={size}" if axis in varies else f"{size}" for axis, size in enumerate(shape))
    return "x".join(sizes) or "scalar"


def output_dims(row: InfoLayer) -> list[str]:
    """Return the shapes of a row."""
    outputs = zip_longest(row.shapes, row.varies, fillvalue=())
    return [dims(shape, varies) for shape, varies in outputs]


def count(number: int) -> str:
    """Return the number, in whole thousands (`3k`) or millions (`3M`) if it is large enough."""
    if number < 1_000:
        return f"{number}"
    return f"{number // 1_000}k" if number < 1_000_000 else f"{number // 1_000_000}M"


def share(number: int, total: int) -> str:
    """Return a count and its share of `total`, to three digits: `3k (0.0483%)`."""
    return f"{count(number)} ({100 * number / total:.3g}%)"


def parameter_lines(row: InfoLayer, total_params: int, total_macs: int) -> Iterator[str]:
    """Yield the lines of the column Parameters: attributes, counts that are not 0, encodings."""
    for name, value in row.attributes.items():
        yield f"{name}: {value}"
    if row.param_count:
        yield f"param count: {share(row.param_count, total_params)}"
    if row.macs:
        yield f"MACs per inference: {share(row.macs, total_macs)}"
    encodings = {
        role: str(encoding.as_float32() if is_overridden(row.origins.get(role)) else encoding)
        for role, encoding in row.encodings.items()
    }
    for role, text in {**encodings, **row.floats}.items():
        yield f"{role} encoding: {text}"
        if role in row.origins:
            yield f"{role} encoding from: {row.origins[role]}"


def info_csv(answer: Info) -> str:
    """Return the layers as CSV text; several entries of a cell are separated by `; `.

    With memory there are columns of it in bytes, empty for inputs.
    """
    known = {} if answer.memory is None else _by_name(answer.memory)
    columns = {} if answer.memory is None else _MEMORY
    lines = []
    for row in answer.layers:
        parameters = parameter_lines(row, answer.total_parameters, answer.total_macs)
        lists = (row.inputs, row.outputs, output_dims(row), row.snpe_letters, parameters)
        cells = (row.id, row.name, row.type, *("; ".join(cell) for cell in lists))
        memory = None if row.type == "data" else known.get(row.name)
        lines.append((*cells, *(getattr(memory, name, "") for name in columns)))
    return csv_text((*SNPE_HEADER, *columns.values()), lines)
