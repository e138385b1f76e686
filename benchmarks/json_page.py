"""docs/reference/json.md: the keys of the JSON files that commands write, with their units.

python -m benchmarks.json_page [--write]

Keys, units and meanings come from the documents of hexsim/results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from benchmarks.pages import REFERENCE, print_or_write, with_block
from hexsim.results.always_on import AlwaysOn
from hexsim.results.answers import Answers, DetectionPrecision
from hexsim.results.benchmark import Benchmark
from hexsim.results.calibration import Calibration
from hexsim.results.comparison import Comparison
from hexsim.results.conversion import Conversion
from hexsim.results.decision import Decision
from hexsim.results.difference import Difference
from hexsim.results.document import Document
from hexsim.results.info import Info
from hexsim.results.kernel import Kernel
from hexsim.results.language_model import LanguageModel
from hexsim.results.overview import Overview
from hexsim.results.partition import Partition
from hexsim.results.phone import PhoneComparison
from hexsim.results.quantization import Quantization
from hexsim.results.sweep import Sweep
from hexsim.results.throughput import Throughput
from hexsim.results.validation import Validation
from hexsim.texts.fields import Part, part_of, stored

PAGE = REFERENCE / "json.md"


class Declared(NamedTuple):
    """What commands write as a document."""

    commands: str
    kind: type[Part]


DOCUMENTS = (
    Declared("bench --json, profile --json", Benchmark),
    Declared("throughput --json", Throughput),
    Declared("always-on --json", AlwaysOn),
    Declared("kernel --json", Kernel),
    Declared("llm --json", LanguageModel),
    Declared("compare --json", Comparison),
    Declared("compare --measured FILE --json", PhoneComparison),
    Declared("calibrate --json", Calibration),
    Declared("sweep show --json", Sweep),
    Declared("info --json", Info),
    Declared("convert --json", Conversion),
    Declared("quantize --encodings-report", Quantization),
    Declared("diff --json", Difference),
    Declared("partition --json", Partition),
    Declared("run --labels FILE --json", Answers),
    Declared("validate --json", Validation),
    Declared("detections --json", DetectionPrecision),
    Declared("decide --json", Decision),
    Declared("overview --json", Overview),
)


def declared(kind: type[Part], seen: set[type[Part]], path: str = "") -> Iterator[str]:
    """Yield a table of the keys of a class of parts, then those of the parts below it.

    A document in another one that was `seen` before is not repeated.
    """
    seen.add(kind)
    about = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    yield from (f"`{path}`: {about}" if path else about, "")
    yield from ("| key | unit | meaning |", "|---|---|---|")
    below, whole = [], list[str]()
    for each in stored(kind):
        inner = part_of(each.type)
        key = each.key + (inner[1].replace("{}", ".{name}") if inner else "")
        yield f"| `{key}` | {each.unit} | {each.meaning} |"
        if inner and issubclass(inner[0], Document) and inner[0] in seen:
            whole += [
                f"`{key}` has the keys of `{inner[0].__name__}`, which are above.",
                "",
            ]
        elif inner:
            below.append((inner[0], f"{path}.{key}".lstrip(".")))
        elif is_dataclass(plain := _plain(each.type)):
            names = ", ".join(f"`{field.name}`" for field in fields(plain))
            whole += [f"`{path}.{key}`".replace("`.", "`") + f" has the keys {names}.", ""]
    yield ""
    yield from whole
    for inner_kind, inner_path in below:
        yield from declared(inner_kind, seen, inner_path)


def _plain(hint: Any) -> Any:
    """Return the type of a field, or of what its list holds, without marks."""
    while get_origin(hint) in (Annotated, tuple):
        hint = get_args(hint)[0]
    return hint


def tables() -> str:
    """Return a table for each document, with a row for each of its objects."""
    lines, seen = [], set[type[Part]]()
    for document in DOCUMENTS:
        title = ", ".join(f"`hexsim {command}`" for command in document.commands.split(", "))
        lines += [f"## {title}", ""]
        lines += declared(document.kind, seen)
    return "\n".join(lines)


def page() -> str:
    """Return the page with today's tables."""
    return with_block(PAGE.read_text(encoding="utf-8"), "keys", tables())


def main() -> None:
    """Print the page, or write it."""
    print_or_write(PAGE, page)


if __name__ == "__main__":
    main()
