"""Runs the exporters of other frameworks, each in a process of its own.

Frameworks print, take long, and end the process that gave them a damaged file. So none of them is
imported here. What they need is an extra of hexsim, and named if it is missing. They work in an
empty folder, and import nothing from the current one.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx

from hexsim import budget, isolation
from hexsim.errors import HexsimError
from hexsim.texts.names import visible
from hexsim.texts.text import shortened

_MOST = 160
"""Characters of an exporter's own words that are shown."""


@dataclass(frozen=True)
class Exporter:
    """What brings files of one kind to ONNX: `command` is what Python runs, a file or
    a module behind "-m", with its arguments.

    `modules` must be installed, which the extra of hexsim does, and those of `floors` in that
    version or a later one.
    """

    name: str
    extra: str
    modules: tuple[str, ...]
    command: tuple[str, ...]
    floors: tuple[tuple[str, str], ...] = ()

    def require(self, path: Path, what: str) -> None:
        """Raise HexsimError unless all is installed that the file at `path` needs."""
        if not all(find_spec(module) for module in self.modules):
            raise HexsimError(
                f"'{path}' is {what}, which {self.name} brings to ONNX; pip install "
                f"'hexsim[{self.extra}]'"
            )
        for name, floor in self.floors:
            if _numbers(version(name)) < _numbers(floor):
                raise HexsimError(
                    f"'{path}' is {what}, and {name} {version(name)} may run what it "
                    f"holds; pip install '{name}>={floor}'"
                )

    def run(self, path: Path, arguments: Sequence[str], target: str) -> onnx.ModelProto:
        """Export the file at `path`; `target` is the argument before the name of the result.

        Files in `arguments` are named from the root, since the exporter works in another folder.
        Raises HexsimError if nothing comes of it, or it takes longer than the budget.
        """
        with TemporaryDirectory(prefix="hexsim-") as folder:
            result = Path(folder) / "exported.onnx"
            words = [*self.command, *arguments, *filter(None, [target]), str(result)]
            said = self._said(path, words, folder)
            model = onnx.ModelProto()
            try:
                model.ParseFromString(result.read_bytes())
            except Exception:  # no file, or errors of protobuf, which onnx does not hand on
                reason = f": {said}" if said else ""
                raise HexsimError(
                    f"{self.name} makes no ONNX model of '{path}'{reason}; export it where it was "
                    "made, or give another file"
                ) from None
        return model

    def _said(self, path: Path, words: Sequence[str], folder: str) -> str:
        """Run Python in `folder`, and return the last line that it printed."""
        seconds = budget.allowed(budget.EXPORT)
        try:
            done = subprocess.run(
                isolation.python(*words),
                cwd=folder,
                env=isolation.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            what = f"{self.name} is not done with '{path}' yet"
            raise HexsimError(budget.over(budget.EXPORT, what, seconds)) from None
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return shortened(visible(last), _MOST)


def _numbers(text: str) -> tuple[int, ...]:
    """Major and minor number of a version."""
    return tuple(int(number) for number in re.findall(r"\d+", text.partition("+")[0])[:2])
