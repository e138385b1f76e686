"""What a document shows of itself: its page for a browser, and its table in a notebook."""

from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

from hexsim.errors import HexsimError
from hexsim.reports.benchmark import benchmark_csv
from hexsim.reports.inference import profile_csv
from hexsim.results.always_on import AlwaysOn
from hexsim.results.answers import Answers, DetectionPrecision
from hexsim.results.benchmark import Benchmark, Inference
from hexsim.results.calibration import Calibration
from hexsim.results.comparison import Comparison
from hexsim.results.decision import Decision
from hexsim.results.difference import Difference
from hexsim.results.document import Document, columns, csv_of
from hexsim.results.fields import fields
from hexsim.results.info import Info
from hexsim.results.kernel import Kernel
from hexsim.results.language_model import LanguageModel
from hexsim.results.partition import Partition
from hexsim.results.phone import PhoneComparison
from hexsim.results.sweep import Sweep
from hexsim.results.throughput import Throughput
from hexsim.results.validation import Validation
from hexsim.texts.csv_text import csv_text
from hexsim.texts.text import visible

MOST_ROWS = 200
"""The most rows of an HTML table; a notebook file stores them all."""


def page_of(document: Document, command: str) -> str:
    """Return the page of a document, with the command that made it.

    Raises HexsimError if it has none.
    """
    from hexsim.reports.pages import command_pages, decision_page, kernel_page, sweep_page

    pages: Mapping[type[Document], Callable[[Any, str], str]] = {
        Inference: command_pages.profile_page,
        Benchmark: command_pages.bench_page,
        Partition: command_pages.partition_page,
        Throughput: command_pages.throughput_page,
        Validation: command_pages.validation_page,
        LanguageModel: command_pages.llm_page,
        Comparison: command_pages.comparison_page,
        Decision: decision_page.decision_page,
        Sweep: sweep_page.sweep_page,
        Kernel: kernel_page.kernel_page,
    }
    if isinstance(document, Partition) and document.graph is None:
        raise HexsimError("only a cut that was made here has a page; save it as .json")
    if type(document) not in pages:
        raise HexsimError(
            f"{type(document).__name__.lower()} has no page; save it as .json or .csv"
        )
    return pages[type(document)](document, command)


def text_of(document: Document) -> str:
    """Return a document as the report of its command, or else its title."""
    if isinstance(document, Decision):
        from hexsim.reports.decision import decision_text

        return decision_text(document)
    from hexsim.reports import answers, diff, info, kernel, partition, phone, studies, validation

    texts: Mapping[type[Document], Callable[[Any], str]] = {
        Partition: partition.partition_text,
        Throughput: studies.throughput_text,
        Calibration: studies.calibration_text,
        Info: info.info_text,
        Validation: validation.validation_text,
        LanguageModel: studies.llm_text,
        Comparison: studies.comparison_table,
        Sweep: studies.sweep_text,
        AlwaysOn: studies.always_on_text,
        Difference: diff.diff_table,
        Answers: answers.answers_text,
        DetectionPrecision: answers.precision_table,
        Kernel: kernel.kernel_table,
        PhoneComparison: phone.phone_table,
    }
    return texts.get(type(document), repr)(document)


def csv_text_of(document: Document) -> str:
    """Return a document as CSV: its rows, or those that the tools of SNPE write."""
    if isinstance(document, Inference):
        return profile_csv(document)
    if isinstance(document, Benchmark):
        return benchmark_csv(document.results)
    if isinstance(document, Sweep):
        names = list(document.front[0])
        return csv_text(names, ([row[name] for name in names] for row in document.front))
    if isinstance(document, Validation):
        from hexsim.reports.validation import validation_csv

        return validation_csv(document)
    if isinstance(document, Info):
        from hexsim.reports.info import info_csv

        return info_csv(document)
    return csv_of(document.rows, document.row_kind())


def notebook_table(document: Document) -> str:
    """Return the title of a document, and a table of its rows."""
    return "".join(_table(document))


def _cells(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells of the table of a document."""
    if isinstance(document, Sweep):
        from hexsim.reports.studies import cell

        names = list(document.shown_columns)
        return names, [[cell(row[name]) for name in names] for row in document.front]
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
