"""Runs the exporters of other frameworks, each in a separate process.

Frameworks print, need much time to import, and may crash on a damaged file. So none of them is
imported here. The packages that they need are an extra of hexsim, which the error names if they
are missing. An exporter works in an empty folder and imports nothing from the current one.
"""

import re
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx

from hexsim import budget, isolation
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.texts.extras import missing
from hexsim.texts.text import shortened, visible

_MOST = 160
"""Most characters of an exporter's message that are shown."""


@dataclass(frozen=True)
class Exporter:
    """Converts files of one format to ONNX: `command` is the file, or "-m" and the module, that
    Python runs, with its arguments.

    `modules` must be installed, which the extra of hexsim does; `floors` are the lowest versions
    of some of them.
    """

    name: str
    extra: str
    modules: tuple[str, ...]
    command: tuple[str, ...]
    floors: tuple[tuple[str, str], ...] = ()

    def require(self, path: Path, description: str) -> None:
        """Raise HexsimError unless all packages are installed that the file at `path` needs."""
        if not all(find_spec(module) for module in self.modules):
            needs = f"'{path}' is {description}, which {self.name} converts to ONNX"
            raise missing(needs, self.extra)
        for name, floor in self.floors:
            if _numbers(version(name)) < _numbers(floor):
                raise HexsimError(
                    f"'{path}' is {description}, and {name} {version(name)} may run what it "
                    f"holds; pip install '{name}>={floor}'"
                )

    def run(self, path: Path, arguments: Sequence[str], target: str) -> onnx.ModelProto:
        """Export the file at `path`; `target` is the argument before the name of the result.

        Paths in `arguments` are absolute, since the exporter works in another folder.
        Raises HexsimError if it writes no model, or takes longer than the budget.
        """
        with TemporaryDirectory(prefix="hexsim-") as folder:
            result = Path(folder) / "exported.onnx"
            words = [*self.command, *arguments, *filter(None, [target]), str(result)]
            last_line = self._last_line(path, words, folder)
            model = onnx.ModelProto()
            try:
                model.ParseFromString(result.read_bytes())
            except Exception:  # no file, or errors of protobuf, which onnx does not export
                reason = f": {last_line}" if last_line else ""
                raise HexsimError(
                    f"{self.name} makes no ONNX model of '{path}'{reason}; export it where it was "
                    "made, or give another file"
                ) from None
        return model

    def _last_line(self, path: Path, words: Sequence[str], folder: str) -> str:
        """Run Python in `folder`, and return the last line that it printed."""
        seconds = budget.allowed(budget.EXPORT)
        try:
            process = subprocess.run(
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
            problem = f"{self.name} is not done with '{path}' yet"
            raise HexsimError(budget.over(budget.EXPORT, problem, seconds)) from None
        lines = process.stdout.decode("utf-8", "replace").splitlines()
        last_line = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return shortened(visible(last_line), _MOST)


def _numbers(text: str) -> tuple[int, ...]:
    """Return major and minor number of a version."""
    return tuple(int(number) for number in re.findall(r"\d+", text.partition("+")[0])[:2])
