"""docs/reference/json.md: the keys of the JSON files that commands write, with their units.

python -m benchmarks.json_page [--write]

Keys, units and meanings come from the documents of hexsim/results. Those of other files come from
the declarations in hexsim/reports, and the unit there from the end of a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import NamedTuple, get_args

from benchmarks.pages import REFERENCE, print_or_write, with_block
from hexsim.quantization.overrides.override import OverrideUse
from hexsim.reports.answers import answers_facts
from hexsim.reports.document import Record, Shape
from hexsim.reports.kernel.data import kernel_facts
from hexsim.reports.network.encodings import encodings_facts
from hexsim.reports.phone.data import phone_facts
from hexsim.reports.precision import precision_facts
from hexsim.results.always_on import AlwaysOn
from hexsim.results.benchmark import Benchmark
from hexsim.results.calibration import Calibration
from hexsim.results.comparison import Comparison
from hexsim.results.decision import Decision
from hexsim.results.difference import Difference
from hexsim.results.fields import Part, part_of, stored
from hexsim.results.info import Info
from hexsim.results.language_model import LanguageModel
from hexsim.results.partition import Partition
from hexsim.results.sweep import Sweep
from hexsim.results.throughput import Throughput
from hexsim.results.validation import Validation

PAGE = REFERENCE / "json.md"

UNITS = {
    "MAC/s": "macs_per_s",
    "MAC/byte": "macs_per_byte",
    "bytes/s": "bytes_per_s",
    "1/s": "per_second per_second_by_context",
    "us": "us",
    "ms": "ms",
    "mW": "mw",
    "mJ": "mj mj_low mj_high energy_low_mj energy_high_mj",
    "GB": "gb",
    "MiB": "max_mb",
    "Hz": "hz",
    "bytes": "bytes",
    "dB": "db",
    "percentage points": "loss loss_points",
    "0 .. 1": "share utilisation efficiency duty part average_precision precision_50 precision_75",
    "MAC": "macs macs_per_slot macs_per_packet macs_per_tile",
    "cycles": "cycles",
    "packets": "packets initiation_interval resource_bound",
    "issue slots": "slots stalls per_tile per_row per_call",
}
"""The ends of keys by their units; the first that fits counts."""


class Declared(NamedTuple):
    """What commands write as a document."""

    commands: str
    kind: type[Part]


@dataclass(frozen=True)
class Written:
    """What commands write; `classes` are the dataclasses of keys that are taken as a whole."""

    commands: str
    record: Record
    classes: Mapping[str, type] = field(default_factory=dict)


DOCUMENTS = (
    Declared("bench --json, profile --json", Benchmark),
    Declared("throughput --json", Throughput),
    Declared("always-on --json", AlwaysOn),
    Written("kernel --json", kernel_facts),
    Declared("llm --json", LanguageModel),
    Declared("compare --json", Comparison),
    Written("compare --measured FILE --json", phone_facts),
    Declared("calibrate --json", Calibration),
    Declared("sweep show --json", Sweep),
    Declared("info --json", Info),
    Written("quantize --encodings-report", encodings_facts, {"overrides": OverrideUse}),
    Declared("diff --json", Difference),
    Declared("partition --json", Partition),
    Written("run --labels FILE --json", answers_facts),
    Declared("validate --json", Validation),
    Written("detections --json", precision_facts),
    Declared("decide --json", Decision),
)


def unit(key: str) -> str:
    """Return the unit that a key ends with, or nothing."""
    plain = key.split(".")[0].removesuffix("[]")
    for name, ends in UNITS.items():
        if any(plain == end or plain.endswith(f"_{end}") for end in ends.split()):
            return name
    return ""


@dataclass(frozen=True)
class Object:
    """An object of a document: its path, its sentence, and its keys with `[]` where it is a list.

    In a path `[]` stands for each entry of a list, and `{layer}` for each name of a layer.
    """

    path: str
    about: str
    keys: tuple[str, ...]


def objects(document: Written) -> Iterator[Object]:
    """Yield the objects of a document, each before those below it."""

    def of_record(record: Record, path: str) -> Iterator[Object]:
        shapes = {_named(key, shape): shape for key, shape in record.fields().items()}
        yield from of_keys(path, record.about, shapes)

    def of_keys(path: str, about: str, shapes: Mapping[str, Shape | None]) -> Iterator[Object]:
        prefix = f"{path}." if path else ""
        wholes = {key for key in shapes if f"{prefix}{key}[]" in document.classes}
        keys = {f"{key}[]" if key in wholes else key: shape for key, shape in shapes.items()}
        yield Object(path, about, tuple(keys))
        for key, shape in keys.items():
            below = prefix + key
            if shape is not None:
                yield from of_record(_record(shape), below)
            elif below in document.classes:
                names = dict.fromkeys(_names(document.classes[below]))
                yield from of_keys(below, "", names)

    return of_record(document.record, "")


def _names(kind: type) -> list[str]:
    """Return the keys of a dataclass, or of a part."""
    if issubclass(kind, Part):
        return [field.key for field in stored(kind)]
    return [field.name for field in fields(kind)]


def declared(kind: type[Part], path: str = "") -> Iterator[str]:
    """Yield a table of the keys of a class of parts, then those of the parts below it."""
    about = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    yield from (f"`{path}`: {about}" if path else about, "")
    yield from ("| key | unit | meaning |", "|---|---|---|")
    below, whole = [], list[str]()
    for each in stored(kind):
        inner = part_of(each.type)
        key = each.key + (inner[1].replace("{}", ".{name}") if inner else "")
        yield f"| `{key}` | {each.unit} | {each.meaning} |"
        if inner:
            below.append((inner[0], f"{path}.{key}".lstrip(".")))
        elif is_dataclass(plain := get_args(each.type)[0] if get_args(each.type) else each.type):
            names = ", ".join(_with_unit(field.name) for field in fields(plain))
            whole += [f"`{path}.{key}`".replace("`.", "`") + f" has the keys {names}.", ""]
    yield ""
    yield from whole
    for inner_kind, inner_path in below:
        yield from declared(inner_kind, inner_path)


def _record(shape: Shape) -> Record:
    if isinstance(shape, dict):
        (record,) = shape.values()
        return record
    return shape[0] if isinstance(shape, list) else shape


def _named(key: str, shape: Shape | None) -> str:
    if isinstance(shape, dict):
        return f"{key}.{{{next(iter(shape))}}}"
    return f"{key}[]" if isinstance(shape, list) else key


def tables() -> str:
    """Return a table for each document, with a row for each of its objects."""
    lines = []
    for document in DOCUMENTS:
        title = ", ".join(f"`hexsim {command}`" for command in document.commands.split(", "))
        lines += [f"## {title}", ""]
        if not isinstance(document, Written):
            lines += declared(document.kind)
            continue
        lines += ["| object | keys |", "|---|---|"]
        for described in objects(document):
            where = f"`{described.path}`" if described.path else "the document"
            keys = ", ".join(map(_with_unit, described.keys))
            lines.append(f"| {': '.join(filter(None, (where, described.about)))} | {keys} |")
        lines.append("")
    return "\n".join(lines)


def _with_unit(key: str) -> str:
    return f"`{key}` ({unit(key)})" if unit(key) else f"`{key}`"


def page() -> str:
    """Return the page with today's tables."""
    return with_block(PAGE.read_text(encoding="utf-8"), "keys", tables())


def main() -> None:
    """Print the page, or write it."""
    print_or_write(PAGE, page)


if __name__ == "__main__":
    main()
