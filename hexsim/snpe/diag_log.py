"""SNPEDiag_0.log: the figures of a run, which SNPE's tools write for snpe-diagview.

It has lines of JSON. The first describes the file and the run:

    {"format": "hexsim diag", "version": 1, "hexsim": ..., "network": ..., "chip": ...,
     "stack": ..., "runtime": ..., "perf_profile": ..., "profiling_level": ..., "inferences": ...}

Every other line is a row: its block (`init`, `inference`, `layer` or `convert`), name, simulated
picoseconds, and microseconds, which the tools print. A row of an inference lists the runtimes it
used. A row of a layer has its id as in snpe-dlc-info, its type, and the runtime that ran it; a row
of a conversion between subnets of AIP has those subnets instead of a type:

    {"block": "layer", "name": "conv1", "ps": 1419250000, "us": 1419, "id": 1,
     "type": "convolutional", "runtime": "DSP"}

The profiling level selects the rows, as in SNPE. `hexsim.studies.row_names` explains them
and the rows that are left out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from hexsim import __version__
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment import Deployment
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.ir import Network
from hexsim.planning.plan import Plan
from hexsim.records import asdict, dataclass
from hexsim.runtimes import Runtime
from hexsim.snpe.option import Level
from hexsim.studies.row_names import conversions, inference, initialisation, misc_ps, runtime_cell
from hexsim.texts.csv_text import csv_text
from hexsim.texts.text import lines, read_text
from hexsim.texts.trees import parse_json
from hexsim.timing.picoseconds import PS_PER_US
from hexsim.timing.results import LayerTiming, Result

FORMAT, VERSION = "hexsim diag", 1
LEVELS: tuple[Level, ...] = get_args(Level)
Block = Literal["init", "inference", "layer", "convert"]

_BASIC = ("Load", "Deserialize", "Create", "Init", "De-Init", "Total Inference Time")
"""Rows of every level except off; the other rows of their blocks need level moderate."""
_NONE = ("RPC Init Time", "Snpe Accelerator Init Time", "Accelerator Init Time")
"""Rows that have no unit if they are zero."""
_KNOWN = {"block", "name", "ps", "us", "id", "type", "runtime"}


@dataclass(frozen=True)
class DiagRun:
    """The network, hardware and settings of a run."""

    network: str
    chip: str
    stack: str
    runtime: Runtime
    perf_profile: str
    profiling_level: Level
    inferences: int


@dataclass(frozen=True)
class DiagRow:
    """One figure; the fields after `us` are None if its block does not have them."""

    block: Block
    name: str
    ps: int
    us: int
    id: int | None = None
    type: str | None = None
    runtime: str | None = None


def diag_rows(run: DiagRun, plan: Plan, timing: Result) -> list[DiagRow]:
    """Return the rows of a run of `plan`; the inputs of its network count as layers."""
    level = LEVELS.index(run.profiling_level)
    rows = [_row("init", name, ps) for name, ps in initialisation(timing)]
    ran = _runtimes(run.runtime, timing)
    rows += [_row("inference", name, ps, ran) for name, ps in inference(timing)]
    basic, moderate = LEVELS.index("basic"), LEVELS.index("moderate")
    selected = [row for row in rows if level >= (basic if row.name in _BASIC else moderate)]
    if run.profiling_level == "detailed":
        selected.append(_row("inference", "Misc Accelerator Time", misc_ps(plan, timing), ran))
        selected += _layers(run.runtime, plan.network, timing)
        for conversion in conversions(plan, timing):
            ps = conversion.duration_ps
            selected.append(
                DiagRow(
                    "convert", conversion.tensor, ps, _rounded(ps), None, conversion.subnets, "AIP"
                )
            )
    return selected


def described(
    deployment: Deployment, perf_profile: str | None, level: Level, inferences: int
) -> DiagRun:
    """Return the description of a run for its log; `perf_profile` None is the stack's default."""
    platform = deployment.platform
    return DiagRun(
        network=deployment.network.name,
        chip=platform.chip.name,
        stack=platform.stack.name,
        runtime=deployment.runtime,
        perf_profile=perf_profile or platform.stack.default_profile,
        profiling_level=level,
        inferences=inferences,
    )


def simulated_log(
    deployment: Deployment,
    perf_profile: str | None,
    level: Level,
    inferences: int,
    buffer: BufferType | None = None,
) -> str:
    """Simulate one inference, since every other one takes the same time, and return its log."""
    run = described(deployment, perf_profile, level, inferences)
    timing = deployment.simulate(perf_profile=perf_profile, buffer=buffer)
    return diag_log(run, diag_rows(run, deployment.plan, timing))


def diag_log(run: DiagRun, rows: Sequence[DiagRow]) -> str:
    """Return the log as text."""
    head = {"format": FORMAT, "version": VERSION, "hexsim": __version__, **asdict(run)}
    facts = ({k: v for k, v in asdict(row).items() if v is not None} for row in rows)
    return "".join(f"{json.dumps(line)}\n" for line in (head, *facts))


def read_diag_log(path: Path) -> tuple[Mapping[str, Any], list[DiagRow]]:
    """Read the head and the rows of a log; raise HexsimError for any other file."""
    remedy = "give the SNPEDiag_0.log that snpe-net-run has written here"
    try:
        documents = [
            parse_json(text, f"log '{path}', line {number}")
            for number, text in lines(read_text(path, "log", remedy, by_line=True))
        ]
    except InvalidDataError as error:
        raise HexsimError(f"{error}; {remedy}") from None
    head, *rows = documents or [{}]
    if not isinstance(head, dict) or (head.get("format"), head.get("version")) != (FORMAT, VERSION):
        raise HexsimError(f"'{path}' is no log of this hexsim; {remedy}")
    if not all(map(_is_row, rows)):
        raise HexsimError(f"log '{path}' holds lines that are no rows; {remedy}")
    return head, [DiagRow(**row) for row in rows]


def diag_csv(rows: Sequence[DiagRow]) -> str:
    """Return the rows as CSV text."""
    header = ("block", "id", "name", "type", "us", "runtime")
    return csv_text(header, ([getattr(row, column) for column in header] for row in rows))


def diag_text(head: Mapping[str, Any], rows: Sequence[DiagRow], created: str) -> str:
    """Return the rows in the layout of snpe-diagview; `created` is the time of the log."""
    init = {row.name: _us(row) for row in rows if row.block == "init"}
    text = [
        f"Log File Created: {created}",
        "Time Scale: 1e-06",
        f"Software library version: {head.get('stack', '')}, simulated by hexsim "
        f"v{head.get('hexsim', '')}",
        "",
        "Dnn Runtime Load/Deserialize/Create/De-Init Statistics:",
        "-" * 50,
        *(init[name] for name in ("Load", "Deserialize", "Create") if name in init),
        "",
        *(init[name] for name in ("Init", "De-Init") if name in init),
        "",
    ]
    moderate = [init[name] for name in ("Create Network(s)", *_NONE) if name in init]
    text += [*moderate, ""] if moderate else []
    text += ["Average SNPE Statistics:", "-" * 30]
    text += [_us(row) for row in rows if row.block == "inference"]
    layers = [row for row in rows if row.block == "layer"]
    if layers:
        text += ["", "Layer Times:", "-" * 15]
        text += [f"{row.id}: {row.us} us : {row.runtime}" for row in layers]
    if converted := [row for row in rows if row.block == "convert"]:
        text += ["", "Convert Times:", "-" * 15]
        text += [f"{row.type}: {row.name}: {row.us} us" for row in converted]
    return "\n".join(text)


def _layers(runtime: Runtime, network: Network, timing: Result) -> Iterator[DiagRow]:
    for number, name in enumerate(network.inputs):
        yield DiagRow("layer", name, 0, 0, number, "data", "CPU")
    ran = {layer.name: layer for layer in timing.layers}
    for number, name in enumerate((layer.name for layer in network.layers), len(network.inputs)):
        if name in ran:
            ps, cell = ran[name].duration_ps, _cell(ran[name], runtime)
            yield DiagRow("layer", name, ps, _rounded(ps), number, ran[name].type, cell)


def _runtimes(runtime: Runtime, timing: Result) -> str:
    """Return the runtimes of an inference: the CPU, then those of its layers."""
    cells = (_cell(layer, runtime) for layer in timing.layers)
    return "|".join(dict.fromkeys(("CPU", *cells)))


def _cell(layer: LayerTiming, runtime: Runtime) -> str:
    """Return SNPE's name of what ran a layer; a tensor processor is its DSP."""
    return "DSP" if layer.engine == "htp" else runtime_cell(layer.engine, runtime)


def _row(block: Block, name: str, ps: int, runtime: str | None = None) -> DiagRow:
    return DiagRow(block, name, ps, _rounded(ps), runtime=runtime)


def _rounded(ps: int) -> int:
    return (2 * ps + PS_PER_US) // (2 * PS_PER_US)


def _us(row: DiagRow) -> str:
    unit = "NONE" if row.name in _NONE and not row.us else "us"
    return f"{row.name}: {row.us} {unit}"


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or row.get("block") not in get_args(Block):
        return False
    numbers = [row.get("ps"), row.get("us"), *([row.get("id")] if row["block"] == "layer" else [])]
    words = [row.get("name"), *([row.get("runtime")] if row["block"] == "layer" else [])]
    return (
        row.keys() <= _KNOWN
        and all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
        and all(isinstance(word, str) for word in words)
    )
