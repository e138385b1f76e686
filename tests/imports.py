"""What the sources import, read from their text: nothing is executed."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Import:
    """One name that a file asks for, absolute; `guarded` if the file loads without it too."""

    file: Path
    line: int
    name: str
    guarded: bool

    @property
    def root(self) -> str:
        """What is looked for on the path."""
        return self.name.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file.relative_to(CHECKOUT)}:{self.line} imports {self.name}"


@cache
def imports(folder: str) -> tuple[Import, ...]:
    """Every absolute import in a folder of the checkout; `from a import b` is one of `a.b`."""
    return tuple(
        Import(file, node.lineno, name, guarded=node not in tree.body)
        for file in sorted((CHECKOUT / folder).rglob("*.py"))
        for tree in [ast.parse(file.read_text(encoding="utf-8"))]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in _names(node)
    )


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level:
        return []
    return [f"{node.module}.{alias.name}" for alias in node.names]
