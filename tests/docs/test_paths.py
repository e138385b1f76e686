"""What pages, docstrings and comments point to exists: links with their anchors, modules, files."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.pages import DOCS, ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
SOURCES = ("hexsim", "models", "benchmarks")

_LINK = re.compile(r"\[[^]]*]\(([^)\s]+)\)")
_DOTTED = re.compile(r"(?<![\w./-])(?:hexsim|benchmarks|tests)(?:\.[A-Za-z_]\w*)+(?![\w/-])")
_ADDED = re.compile(r"^```\w+ file=(\S+)$", re.MULTILINE)
"""Files that a recipe adds, which its reader has and we have not."""
_FILE = re.compile(r"(?<![\w./-])(?:hexsim|models|benchmarks|tests)/[\w./*-]*\w/?|docs/[\w/-]+\.md")


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """Return what GitHub makes of the headings of a page; of two alike the second has -1."""
    counts: dict[str, int] = {}
    for heading in re.findall(r"^#+ +(.+?) *$", _without_code(text), re.MULTILINE):
        slug = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        counts[slug] = counts.get(slug, -1) + 1
    return {
        f"{slug}-{at}" if at else slug for slug, last in counts.items() for at in range(last + 1)
    }


def dead_links(page: Path) -> Iterator[str]:
    """Yield the relative links of a page whose file or heading does not exist."""
    for link in _LINK.findall(_without_code(page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (
            anchor and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            yield link


def stale_names(text: str) -> set[str]:
    """Return the modules and files that a text names and that neither exist nor are added by it."""
    files = set(_ADDED.findall(text))
    modules = tuple(name.removesuffix(".py").replace("/", ".") for name in files)
    names = (name for name in _DOTTED.findall(text) if not name.startswith(modules))
    dotted = {name for name in names if not resolves(name)}
    return dotted | {name for name in set(_FILE.findall(text)) - files if not any(ROOT.glob(name))}


def resolves(dotted: str) -> bool:
    """Whether a dotted name is a module, or something that one has."""
    head, *rest = dotted.split(".")
    target = importlib.import_module(head)
    for at, part in enumerate(rest):
        name = ".".join((head, *rest[: at + 1]))
        if not hasattr(target, part):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as missing:
                if missing.name != name and not name.startswith(f"{missing.name}."):
                    raise
                return False
        target = getattr(target, part)
    return True


def _said(module: Path) -> str:
    """The docstrings and comments of a module."""
    source = module.read_text(encoding="utf-8")
    # A line that has a # in a string is no comment, but what it names exists as well.
    said = [line for line in source.splitlines() if "#" in line]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said.append(str(node.value.value))
    return "\n".join(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(dead_links(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_what_exists(page: Path) -> None:
    assert not stale_names(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", SOURCES)
def test_docstrings_and_comments_name_what_exists(folder: str) -> None:
    stale = [
        f"{module.relative_to(ROOT)}: {name}"
        for module in sorted((ROOT / folder).rglob("*.py"))
        for name in sorted(stale_names(_said(module)))
    ]
    assert not stale, "\n".join(stale)


def test_every_page_is_in_the_index() -> None:
    index = DOCS / "index.md"
    listed = {
        (DOCS / link.partition("#")[0]).resolve()
        for link in _LINK.findall(index.read_text(encoding="utf-8"))
    }
    assert not set(DOCS.rglob("*.md")) - {index} - listed


def test_what_does_not_exist_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`, three\n\n[a](#one-two-three) [b](#four) [c](none.md) [d](page.md#x)\n"
    )
    assert list(dead_links(page)) == ["#four", "none.md", "page.md#x"]
    assert stale_names(
        "`hexsim.simulate` hexsim.nothing.there, hexsim/nothing.py. docs/none.md"
    ) == {
        "hexsim.nothing.there",
        "hexsim/nothing.py",
        "docs/none.md",
    }


def test_what_a_recipe_adds_exists_for_it() -> None:
    text = "```python file=hexsim/new.py\n```\n"
    assert not stale_names(f"{text} hexsim/new.py hexsim.new.thing")
    assert stale_names(f"{text} hexsim/newer.md hexsim.other") == {
        "hexsim/newer.md",
        "hexsim.other",
    }
