"""The documentation as a site: what mkdocs.yml leaves to a program.

make docs

- README.md is the first page, docs/index.md the page that leads to all others. The pages beside
  README.md, and the sources that pages point to, are part of the site too.
- Links in the pages are those of the repository. Here they become those of the site.
- The navigation is made of the lists in docs/index.md, so that a page is listed once.
- Headings have the anchors that the repository's viewers give them, and a block of code its file.
- A page begins with the questions that docs/index.md leads to it. They are its tags, so that the
  search finds it by their words first; the history of changes stands behind all others there.

Left out: no page is changed otherwise. What the site shows is what stands in the repository.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from benchmarks.pages import DOCS, ROOT

HOME = "README.md"
MAP = "docs/index.md"
BESIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
SOURCES = "examples"

_LINK = re.compile(r"(\[[^]]*]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_HEADING = re.compile(r"^(##+) (.+)$", re.MULTILINE)
_LISTED = re.compile(r"\[[^]]*]\(([\w./-]+\.md)\)")
_MARK = re.compile(r"^<!--.*-->$", re.MULTILINE)
_NAMED = re.compile(r"^(```\w+) file=(\S+)$", re.MULTILINE)
_QUESTION = re.compile(r"^\| (.+?) \| (.*\]\(.+) \|$", re.MULTILINE)
_TITLE = re.compile(r"^# .+$", re.MULTILINE)
_HISTORY = 0.2
"""How much the words of the pages of changes and questions count in the search; 1 is the rule."""
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def in_site(path: str) -> str:
    """Where a file of the repository is in the site."""
    if path in (HOME, MAP):
        return "index.md" if path == HOME else "contents.md"
    return path.removeprefix("docs/")


def in_repository(path: str) -> str:
    """Where a file of the site is in the repository."""
    if path in ("index.md", "contents.md"):
        return HOME if path == "index.md" else MAP
    return path if (ROOT / path).exists() else f"docs/{path}"


def with_links_of_the_site(text: str, page: str) -> str:
    """Return the text of a page of the repository with links as the site has them."""

    def led(match: re.Match[str]) -> str:
        before, link, rest = match.groups()
        if ":" in link:
            return match[0]
        target = in_site(posixpath.normpath(posixpath.join(posixpath.dirname(page), link)))
        start = posixpath.dirname(in_site(page)) or "."
        return before + posixpath.relpath(target, start) + rest

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(led, part) for part in parts)


def navigation(text: str) -> list[Any]:
    """The sections of docs/index.md with the pages that they list, each page once."""
    nav: list[Any] = [{"Start": ["index.md", "tutorial.md", "contents.md", "architecture.md"]}]
    heads = [*_HEADING.finditer(text)]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    sections = [
        (
            head[1],
            head[2],
            [in_site(f"docs/{link}") for link in _LISTED.findall(text[head.end() : end])],
        )
        for head, end in zip(heads, ends, strict=True)
    ]
    for level, title, listed in sections[1:]:
        pages = list(dict.fromkeys(listed))
        if level == "##":
            nav.append({title: pages})
        else:
            (above,) = nav[-1].values()
            above.append({title: pages})
    return [*nav, {"Project": list(BESIDE)}]


def questions(text: str) -> dict[str, list[str]]:
    """The questions of docs/index.md by the page of the site that answers."""
    asked: dict[str, list[str]] = {}
    for question, answers in _QUESTION.findall(text):
        for link in _LISTED.findall(answers):
            asked.setdefault(in_site(posixpath.normpath(f"docs/{link}")), []).append(question)
    return asked


def with_questions(text: str, asked: list[str]) -> str:
    """Return a page with the questions that it answers below its title."""
    below = "\n".join(f"*{question}*" for question in asked)
    return _TITLE.sub(lambda title: f"{title[0]}\n\n{below}", text, count=1) if asked else text


def anchor(heading: str, separator: str) -> str:
    """The anchor of a heading, as the repository's viewers make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", separator)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the navigation and the anchors."""
    config.nav = navigation((DOCS / "index.md").read_text(encoding="utf-8"))
    config.mdx_configs["toc"]["slugify"] = anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is outside of docs/, and give the first place to README.md."""
    for file in [*files]:
        if file.src_uri == "index.md":
            files.remove(file)
    sources = sorted(path for path in (ROOT / SOURCES).rglob("*") if path.is_file())
    outside = [ROOT / HOME, ROOT / MAP, *(ROOT / name for name in BESIDE), *sources]
    for path in outside:
        name = in_site(path.relative_to(ROOT).as_posix())
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(text: str, page: Page, **_: Any) -> str:
    """Lead the links of a page to where their targets are in the site; part marks from tables."""
    asked = questions((DOCS / "index.md").read_text(encoding="utf-8")).get(page.file.src_uri, [])
    page.meta["tags"] = asked
    if page.file.src_uri in ("CHANGELOG.md", in_site(MAP)):
        page.meta["search"] = {"boost": _HISTORY}
    led = with_links_of_the_site(with_questions(text, asked), in_repository(page.file.src_uri))
    return _NAMED.sub(r'\1 title="\2"', _MARK.sub(r"\n\g<0>\n", led))
