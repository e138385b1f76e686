"""What a document shows of itself: its text, its CSV, its page, and its table in a notebook.

Each is made by a function of a module here, which is imported when it is wanted.
"""

from collections.abc import Iterator
from html import escape
from importlib import import_module
from typing import Any

from hexsim.errors import HexsimError
from hexsim.results.document import Document, columns, csv_of
from hexsim.texts.fields import fields
from hexsim.texts.text import visible

MOST_ROWS = 200
"""The most rows of an HTML table; a notebook file stores them all."""

_TEXTS = {
    "AlwaysOn": "studies.always_on_text",
    "Answers": "answers.answers_text",
    "Benchmark": "benchmark.benchmark_text",
    "Calibration": "studies.calibration_text",
    "Comparison": "differences.comparison_table",
    "Conversion": "info.conversion_text",
    "Decision": "decision.decision_text",
    "DetectionPrecision": "answers.precision_table",
    "Difference": "differences.diff_table",
    "Inference": "summary.profile_text",
    "Info": "info.info_text",
    "Kernel": "kernel.kernel_table",
    "LanguageModel": "studies.llm_text",
    "Overview": "summary.overview_text",
    "Partition": "partition.partition_text",
    "PhoneComparison": "phone.phone_table",
    "Sweep": "studies.sweep_text",
    "Throughput": "studies.throughput_text",
    "Validation": "validation.validation_text",
}
"""The report of a command, by the class of its document."""

_CSV = {
    "Benchmark": "benchmark.benchmark_csv",
    "Inference": "inference.profile_csv",
    "Info": "info.info_csv",
    "Sweep": "studies.sweep_csv",
    "Validation": "validation.validation_csv",
}
"""CSV that is more than the rows of the document, such as that which the tools of SNPE write."""

_PAGES = {
    "Benchmark": "pages.command_pages.bench_page",
    "Comparison": "pages.command_pages.comparison_page",
    "Decision": "pages.decision_page.decision_page",
    "Inference": "pages.command_pages.profile_page",
    "Kernel": "pages.kernel_page.kernel_page",
    "LanguageModel": "pages.command_pages.llm_page",
    "Overview": "pages.command_pages.overview_page",
    "Partition": "pages.command_pages.partition_page",
    "Sweep": "pages.sweep_page.sweep_page",
    "Throughput": "pages.command_pages.throughput_page",
    "Validation": "pages.command_pages.validation_page",
}


def page_of(document: Document, command: str) -> str:
    """Return the page of a document, with the command that made it.

    Raises HexsimError if it has none.
    """
    kind = type(document).__name__
    if reason := document.without_page:
        raise HexsimError(f"{reason}; save it as .json")
    if kind not in _PAGES:
        raise HexsimError(f"{kind.lower()} has no page; save it as .json or .csv")
    page: str = _made(_PAGES[kind])(document, command)
    return page


def text_of(document: Document) -> str:
    """Return a document as the report of its command."""
    text: str = _made(_TEXTS[type(document).__name__])(document)
    return text


def csv_text_of(document: Document) -> str:
    """Return a document as CSV: its rows, or what stands for them."""
    kind = type(document).__name__
    text: str = (
        _made(_CSV[kind])(document) if kind in _CSV else csv_of(document.rows, document.row_kind())
    )
    return text


def _made(place: str) -> Any:
    """Return the function at a place of this package."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"hexsim.reports.{module}"), name)


def notebook_table(document: Document) -> str:
    """Return the title of a document, and a table of its rows."""
    return "".join(_table(document))


def _cells(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells of the table of a document."""
    if type(document).__name__ == "Sweep":
        cells: tuple[list[str], list[list[str]]] = _made("studies.sweep_cells")(document)
        return cells
    if not document.rows:
        return [], []
    kind = type(document.rows[0])
    shown = [fields(kind)[name] for name in columns(kind)]
    rows = [[field.text(getattr(row, field.name)) for field in shown] for row in document.rows]
    return [field.heading for field in shown], rows


def _table(document: Document) -> Iterator[str]:
    yield f"<p><b>{_text(document.title)}</b></p>"
    headings, rows = _cells(document)
    if not rows:
        return
    head = "".join(f"<th>{_text(heading)}</th>" for heading in headings)
    yield f"<table><thead><tr>{head}</tr></thead>"
    for row in rows[:MOST_ROWS]:
        yield f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>"
    yield "</table>"
    if len(rows) > MOST_ROWS:
        yield f"<p>{len(rows) - MOST_ROWS} more rows; to_dataframe() has all.</p>"


def _text(text: Any) -> str:
    return escape(visible(str(text)))
