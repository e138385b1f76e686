"""Which runtime takes which layer: the table of docs/reference/layers.md.

python -m benchmarks.layer_matrix [--write]

A row for each layer type, and for each function of the types that have some. Rules that refuse
single layers of a type are listed below it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import get_args

from benchmarks.pages import REFERENCE, with_block
from hexsim.graph.ir import Layer
from hexsim.graph.support import Support
from hexsim.layers import TYPES, Neuron
from hexsim.layers._functions import FUNCTIONS
from hexsim.layers.elementwise import KINDS, Elementwise
from hexsim.layers.support import RULES
from hexsim.platforms import stacks
from hexsim.runtimes import LayerTarget, Operators

PAGE = REFERENCE / "layers.md"
COLUMNS: tuple[tuple[str, LayerTarget], ...] = (
    ("CPU", "cpu"),
    ("GPU", "gpu"),
    ("DSP", "dsp"),
    ("HTA", "hta"),
)
"""GPU stands for both of its runtimes; DSP for all that computes in integers, but the HTA."""


def _types() -> list[tuple[str, type[Layer]]]:
    """Layer types by what reports call them, or by their class where that depends on attributes."""
    names = {kind: kind.type if isinstance(kind.type, str) else kind.__name__ for kind in TYPES}
    return sorted(((name, kind) for kind, name in names.items()), key=lambda one: one[0].lower())


def layers() -> Iterator[tuple[str, Support]]:
    """Layer types and functions with their support."""
    for name, kind in _types():
        if kind is Neuron:
            yield from ((f"{name}: {fn}", FUNCTIONS[fn].support) for fn in sorted(FUNCTIONS))
        elif kind is Elementwise:
            yield from ((f"{name}: {one}", KINDS[one][0]) for one in sorted(KINDS))
        else:
            yield name, kind.support


def matrix() -> str:
    """A row for each layer, its marks by each generation of releases."""
    generations = get_args(Operators)
    heads = [f"{operators} {title}" for operators in generations for title, _ in COLUMNS]
    rows = [f"| layer | {' | '.join(heads)} | others |", "|---" * (len(heads) + 2) + "|"]
    for name, support in layers():
        marks = [
            "yes" if target in support.by(operators).targets else ""
            for operators in generations
            for _, target in COLUMNS
        ]
        why = dict.fromkeys(
            f"{operators}: {support.by(operators).otherwise}"
            if support.qnn
            else support.by(operators).otherwise
            for operators in generations
            if len(support.by(operators).targets) < _ALL
        )
        rows.append(f"| {name} | {' | '.join(marks)} | {'; '.join(why)} |")
    return "\n".join(rows)


_ALL = 7
"""Runtimes, and the HTA."""


def limits() -> str:
    """The rules that refuse single layers, with those of every type first."""
    rows = ["| layer | refused by | because |", "|---|---|---|"]
    named = [("any", rule) for rule in RULES]
    named += [(name, rule) for name, kind in _types() for rule in kind.limits]
    rows += [f"| {n} | {', '.join(sorted(r.targets))} | {r.sentence} |" for n, r in named]
    return "\n".join(rows)


def releases() -> str:
    """The generation of each stack."""
    rows = ["| stack | operators |", "|---|---|"]
    loaded = [stacks.load(name) for name in stacks.names()]
    rows += [f"| {stack.name} | {stack.partitioning.operators} |" for stack in loaded]
    return "\n".join(rows)


def page() -> str:
    """The page with today's tables."""
    text = PAGE.read_text(encoding="utf-8")
    for name, block in (("stacks", releases()), ("matrix", matrix()), ("limits", limits())):
        text = with_block(text, name, block)
    return text


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(f"{releases()}\n\n{matrix()}\n\n{limits()}")


if __name__ == "__main__":
    main()
