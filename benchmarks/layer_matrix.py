"""Which runtime takes which layer: the tables of docs/reference/layers.md.

python -m benchmarks.layer_matrix [--write]

A row for each layer type, and for each variant that some release tells apart, with what every
built-in stack says of it; of layers that users bring none says anything. Rules that refuse single
layers of a type are listed below it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import get_args

from benchmarks.pages import REFERENCE, with_blocks
from hexsim.datasheets import operators, stacks
from hexsim.datasheets.operators import (
    ANY_OPERATOR,
    Column,
    ElementEntry,
    ElementType,
    Operators,
    RowSource,
)
from hexsim.datasheets.stacks import Stack
from hexsim.graph.ir import Layer
from hexsim.graph.support import EVERYWHERE
from hexsim.layers import TYPES, ArgExtremum, Neuron, UserDefined
from hexsim.layers._functions import FUNCTIONS
from hexsim.layers.elementwise import KINDS, Elementwise
from hexsim.layers.support import RULES

PAGE = REFERENCE / "layers.md"
COLUMNS: tuple[tuple[str, Column], ...] = (("GPU", "gpu"), ("DSP", "dsp"))
"""GPU stands for both of its runtimes; DSP for all that computes in integers, but the HTA."""
HTP = "htp"
_SHORT: dict[ElementType, str] = {"int8": "8 bits", "int16": "16 bits", "float16": "float"}


def _types() -> list[tuple[str, type[Layer]]]:
    """Layer types by what reports call them, or by their class where that depends on attributes."""
    names = {kind: kind.type if isinstance(kind.type, str) else kind.__name__ for kind in TYPES}
    return sorted(((name, kind) for kind, name in names.items()), key=lambda item: item[0].lower())


def layers() -> Iterator[tuple[str, str, bool]]:
    """Layers by type and variant, and whether the HTA has them."""
    keys = {key for family in operators.names() for key in operators.load(family).rows}
    for name, kind in _types():
        if kind is Neuron:
            yield from ((name, fn, FUNCTIONS[fn].support is EVERYWHERE) for fn in sorted(FUNCTIONS))
        elif kind is Elementwise:
            yield from ((name, kind, KINDS[kind][0] is EVERYWHERE) for kind in sorted(KINDS))
        elif kind is ArgExtremum:
            yield from ((kind, "", False) for kind in ("argmax", "argmin"))
        elif kind is not UserDefined and kind.support.targets != {"cpu"}:
            on_hta = kind.support is EVERYWHERE
            variants = {key.partition(": ")[2] for key in keys if key.startswith(f"{name}: ")}
            if name in keys or not variants:
                yield name, "", on_hta
            yield from ((name, variant, on_hta) for variant in sorted(variants))


def matrix() -> str:
    """A row for each layer, its marks by each stack."""
    loaded = _stacks()
    with_htp = [stack for stack in loaded if HTP in stack.runtimes]
    heads = [f"{stack.name} {title}" for stack in loaded for title, _ in COLUMNS]
    heads += [f"{stack.name} HTP" for stack in with_htp]
    rows = [f"| layer | {' | '.join(heads)} | HTA |", "|---" * (len(heads) + 2) + "|"]
    for name, variant, on_hta in layers():
        marks = [_mark(s.operators, name, variant, of) for s in loaded for _, of in COLUMNS]
        key = operators.named(name, variant)
        marks += [_htp_mark(s.operators, name, variant) for s in with_htp]
        rows.append(f"| {key} | {' | '.join(marks)} | {'yes' if on_hta else ''} |")
    return "\n".join(rows)


def _mark(release: Operators, name: str, variant: str, of: Column) -> str:
    verdict = release.verdict(name, variant, of)
    if verdict is None:
        return "assumed"
    if not verdict.taken:
        return f"from {verdict.since}" if verdict.since else ""
    return "assumed" if verdict.confidence == "assumed" else "yes"


def _htp_mark(release: Operators, name: str, variant: str) -> str:
    """The first architecture that takes the layer, by type of element where these differ."""
    verdict = release.verdict(name, variant, "htp")
    if verdict is not None and not verdict.taken:
        return ""
    keys = [operators.named(name, variant), name]
    marks = {}
    for element, short in _SHORT.items():
        entry = release.table.element_entry(keys, element)
        known = entry is not None and release.table.sources[entry.source].confidence != "assumed"
        marks[short] = entry.first.upper() if entry is not None and known else "assumed"
    if len({*marks.values()}) == 1:
        return marks["8 bits"]
    return ", ".join(f"{short}: {mark}" for short, mark in marks.items())


def _stacks() -> list[Stack]:
    return [stacks.load(name) for name in stacks.names()]


def elements() -> str:
    """For each operator of tensor processors, the architectures that take its types of element."""
    types = get_args(ElementType)
    rows = [f"| table | operator | {' | '.join(types)} |", "|---" * (len(types) + 2) + "|"]
    for family in operators.names():
        table = operators.load(family)
        keys = {
            (key, chip)
            for entry in table.elements
            for key in entry.operators
            for chip in entry.chips or (None,)
        }
        for key, chip in sorted(keys, key=lambda key: (key[1] is None, key[0].lower(), key[0])):
            entries = [table.element_entry([key], element, chip) for element in types]
            place = f" on {chip}" if chip else ""
            marks = [
                "assumed" if entry is None else _element_mark(entry, table.sources[entry.source])
                for entry in entries
            ]
            name = "every operator" if key == ANY_OPERATOR else key
            rows.append(f"| {family} | {name}{place} | {' | '.join(marks)} |")
    return "\n".join(rows)


def _element_mark(entry: ElementEntry, source: RowSource) -> str:
    first = "none" if entry.first == "none" else f"{entry.first.upper()} on"
    return f"{first}, {source.confidence} ({entry.source})"


def limits() -> str:
    """The rules that refuse single layers, with those of every type first."""
    rows = ["| layer | refused by | because |", "|---|---|---|"]
    named = [("any", rule) for rule in RULES]
    named += [(name, rule) for name, kind in _types() for rule in kind.limits]
    rows += [f"| {n} | {', '.join(sorted(r.targets))} | {r.sentence} |" for n, r in named]
    return "\n".join(rows)


def releases() -> str:
    """The table of each stack."""
    rows = ["| stack | table | release |", "|---|---|---|"]
    rows += [
        f"| {stack.name} | {stack.partitioning.operators} | {stack.partitioning.release or ''} |"
        for stack in _stacks()
    ]
    return "\n".join(rows)


def sources() -> str:
    """What the tables are taken from."""
    rows = ["| table | name | source | confidence |", "|---|---|---|---|"]
    for family in operators.names():
        sources = operators.load(family).sources.items()
        rows += [
            f"| {family} | {name} | {source.text} | {source.confidence} |"
            for name, source in sources
        ]
    return "\n".join(rows)


def page() -> str:
    """The page with today's tables."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = {
        "stacks": releases(),
        "sources": sources(),
        "matrix": matrix(),
        "elements": elements(),
        "limits": limits(),
    }
    return with_blocks(text, blocks)


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print("\n\n".join((releases(), sources(), matrix(), elements(), limits())))


if __name__ == "__main__":
    main()
