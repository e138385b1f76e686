"""What the SNPE tools take here: the tables of docs/reference/snpe-tools.md.

python -m benchmarks.snpe_tools [--write]

A table for each tool, from the tables that read its command line.
"""

from __future__ import annotations

import argparse

from benchmarks.pages import REFERENCE, with_block
from hexsim.snpe.option import Tool
from hexsim.snpe.tool import TOOLS
from hexsim.snpe.words import option_text

PAGE = REFERENCE / "snpe-tools.md"


def tables() -> str:
    """A section for each tool; tools of the same options share one."""
    sections: dict[str, tuple[list[str], Tool]] = {}
    for name, tool in TOOLS.items():
        sections.setdefault(repr(tool.options), ([], tool))[0].append(name)
    return "\n\n".join(_section(names, tool) for names, tool in sections.values())


def _section(names: list[str], tool: Tool) -> str:
    lines = [f"## {', '.join(names)}", "", tool.summary, ""]
    for note in tool.notes:
        lines += [note, ""]
    if not tool.options:
        return "\n".join(lines).rstrip()
    lines += ["| option | what it does |", "|---|---|"]
    for option in tool.options:
        required = "Required. " if option.is_required else ""
        lines.append(f"| `{option.form}` | {required}{option_text(option)} |")
    return "\n".join(lines)


def page() -> str:
    """The page with today's tables."""
    return with_block(PAGE.read_text(encoding="utf-8"), "tools", tables())


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(tables())


if __name__ == "__main__":
    main()
