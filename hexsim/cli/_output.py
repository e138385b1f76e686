"""What a command writes: where it goes, and that it costs nobody a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from hexsim.cli._options import CsvOption, JsonOption, TraceOption
from hexsim.errors import HexsimError
from hexsim.files import require_folder, write_bytes


@dataclass(frozen=True)
class Outputs:
    """Files that a command writes if asked: every field of a subclass is one, or None."""

    def require(self, *read: str | Path | None) -> None:
        """Raise HexsimError unless each can be written without costing a file that is `read`."""
        require_outputs([getattr(self, field.name) for field in fields(self)], read)

    def write(self, **contents: Callable[[], str | bytes]) -> None:
        """Write those that were asked for; `contents` makes each, by the name of its field."""
        for name, content in contents.items():
            path = getattr(self, name)
            if path is not None:
                made = content()
                write_bytes(path, made if isinstance(made, bytes) else made.encode())


@dataclass(frozen=True)
class Trace(Outputs):
    """A timeline."""

    trace: TraceOption = None


@dataclass(frozen=True)
class Json(Outputs):
    """Results for programs."""

    json: JsonOption = None


@dataclass(frozen=True)
class JsonCsv(Json):
    """Results for programs and for spreadsheets."""

    csv: CsvOption = None


@dataclass(frozen=True)
class JsonTrace(Json):
    """Results for programs, and a timeline."""

    trace: TraceOption = None


@dataclass(frozen=True)
class JsonCsvTrace(JsonCsv):
    """Results for programs and for spreadsheets, and a timeline."""

    trace: TraceOption = None


def output_path(model: str, output: Path | None, default: str) -> Path:
    """Return `output`, or the file called `default` beside `model`."""
    return Path(model).with_name(default) if output is None else output


def require_outputs(
    outputs: Sequence[Path | None], inputs: Sequence[str | Path | None] = ()
) -> None:
    """Raise HexsimError, before any long work, unless every output can be written.

    None may be a file that the command reads, nor the same as another; None stands for one that
    was not asked for.
    """
    chosen: list[Path] = []
    for output in outputs:
        if output is None:
            continue
        require_folder(output)
        for read in inputs:
            if read is not None and _same(output, Path(read)):
                raise HexsimError(f"'{output}' would overwrite an input; give it another name")
        if any(_same(output, other) for other in chosen):
            raise HexsimError(
                f"two outputs would be written to '{output}'; give each a name of its own"
            )
        chosen.append(output)


def _same(path: Path, other: Path) -> bool:
    if path.absolute() == other.absolute():
        return True
    return path.exists() and other.exists() and path.samefile(other)
