"""Groups of options for the files that commands write, shared by many commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hexsim.cli._files import OUTPUT
from hexsim.cli._options import HtmlOption, JsonOption
from hexsim.cli._say import command_line
from hexsim.errors import HexsimError, spelled
from hexsim.files.atomic_write import write_bytes
from hexsim.records import dataclass, fields

if TYPE_CHECKING:
    from hexsim.results.document import Document


@dataclass(frozen=True)
class Outputs:
    """Files that a command writes on request: every field of a subclass is a path or None."""

    HEADING = "Files to write"

    @property
    def writes_files(self) -> bool:
        """True if there is a file to write."""
        return any(getattr(self, field.name) is not None for field in fields(self))

    def write(self, document: Document | None = None, **others: Callable[[], str | bytes]) -> None:
        """Write the requested files: what `document` is as JSON, CSV or a page, and `others`.

        Each of `others` makes a file, by the name of its field.
        """
        contents: dict[str, Callable[[], str | bytes]] = dict(others)
        if document is not None:
            makers: dict[str, Callable[[], str | bytes]] = {
                "json": document.to_json,
                "csv": document.to_csv,
                "html": partial(document.html, command=command_line()),
            }
            contents = makers | contents
        for name, content in contents.items():
            path = getattr(self, name, None)
            if path is not None:
                data = content()
                if isinstance(data, str):
                    data = data.encode(errors="backslashreplace")
                write_bytes(path, data)


@dataclass(frozen=True)
class Trace(Outputs):
    """A timeline."""

    trace: Annotated[
        Path | None, "Write a trace for ui.perfetto.dev or chrome://tracing.", OUTPUT
    ] = None


@dataclass(frozen=True)
class Json(Outputs):
    """Results for programs."""

    json: JsonOption = None


@dataclass(frozen=True)
class Csv(Outputs):
    """Results for spreadsheets."""

    csv: Annotated[Path | None, "Write the results as CSV.", OUTPUT] = None


@dataclass(frozen=True)
class Html(Outputs):
    """A page of figures."""

    html: HtmlOption = None


@dataclass(frozen=True)
class JsonCsv(Csv, Json):
    """Results for programs and for spreadsheets."""


@dataclass(frozen=True)
class JsonCsvTrace(Trace, JsonCsv):
    """Results for programs and for spreadsheets, and a timeline."""


@dataclass(frozen=True)
class JsonHtml(Html, Json):
    """Results for programs, and as a page."""


@dataclass(frozen=True)
class JsonCsvHtml(Html, JsonCsv):
    """Results for programs, for spreadsheets and as a page."""


@dataclass(frozen=True)
class JsonTraceHtml(Html, Trace, Json):
    """Results for programs, a timeline, and all as a page."""


@dataclass(frozen=True)
class JsonCsvTraceHtml(Html, JsonCsvTrace):
    """Results for programs and for spreadsheets, a timeline, and all as a page."""


def beside_model(values: Mapping[str, Any], name: str) -> Path:
    """Return the option `output` if it is `values`, else the file called `name` beside the model.

    Raises HexsimError if the model's name is not that of a file ("", ".", "/").
    """
    output: Path | None = values["output"]
    if output is not None:
        return output
    if not Path(values["model"]).name:
        raise HexsimError(
            f"'{values['model']}' is no file; give a model, and a name with {spelled('output')}"
        )
    return Path(values["model"]).with_name(name)
