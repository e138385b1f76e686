"""What a document shows of itself: its page for a browser, and its table in a notebook."""

from collections.abc import Iterator
from functools import singledispatch
from html import escape
from typing import Any

from hexsim.errors import HexsimError
from hexsim.reports.benchmark.csv_rows import benchmark_csv
from hexsim.reports.inference.profile import profile_csv
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
from hexsim.texts.names import visible

MOST_ROWS = 200
"""The most rows of an HTML table; a notebook file stores them all."""


@singledispatch
def page_of(document: Document) -> str:
    """Return the page of a document; HexsimError if it has none."""
    raise HexsimError(f"{type(document).__name__.lower()} has no page; save it as .json or .csv")


@page_of.register
def _(document: Inference) -> str:
    from hexsim.reports.pages.command_pages import profile_page

    return profile_page(document, "")


@page_of.register
def _(document: Benchmark) -> str:
    from hexsim.reports.pages.command_pages import bench_page

    return bench_page(document, "")


@page_of.register
def _(document: Partition) -> str:
    from hexsim.reports.pages.command_pages import partition_page

    if document.graph is None or document.runtime != "aip":
        raise HexsimError("only a cut for aip that was made here has a page; save it as .json")
    return partition_page(document, "")


@page_of.register
def _(document: Throughput) -> str:
    from hexsim.reports.pages.command_pages import throughput_page

    return throughput_page(document, "")


@page_of.register
def _(document: Validation) -> str:
    from hexsim.reports.pages.command_pages import validation_page

    return validation_page(document, "")


@page_of.register
def _(document: LanguageModel) -> str:
    from hexsim.reports.pages.llm_page import llm_page

    return llm_page(document, "")


@page_of.register
def _(document: Decision) -> str:
    from hexsim.reports.pages.decision_page import decision_page

    return decision_page(document, "")


@page_of.register
def _(document: Sweep) -> str:
    from hexsim.reports.pages.sweep_page import sweep_page

    return sweep_page(document, "")


@singledispatch
def text_of(document: Document) -> str:
    """Return a document as the report of its command, or else its title."""
    return repr(document)


@text_of.register
def _(document: Partition) -> str:
    from hexsim.reports.partition import partition_text

    return partition_text(document)


@text_of.register
def _(document: Throughput) -> str:
    from hexsim.reports.throughput import throughput_text

    return throughput_text(document)


@text_of.register
def _(document: Calibration) -> str:
    from hexsim.reports.calibration import calibration_text

    return calibration_text(document)


@text_of.register
def _(document: Info) -> str:
    from hexsim.reports.network.info import info_text

    return info_text(document)


@text_of.register
def _(document: Difference) -> str:
    from hexsim.reports.network.diff import diff_table

    return diff_table(document)


@text_of.register
def _(document: Answers) -> str:
    from hexsim.reports.answers import answers_text

    return answers_text(document)


@text_of.register
def _(document: DetectionPrecision) -> str:
    from hexsim.reports.answers import precision_table

    return precision_table(document)


@text_of.register
def _(document: Kernel) -> str:
    from hexsim.reports.kernel import kernel_table

    return kernel_table(document)


@text_of.register
def _(document: PhoneComparison) -> str:
    from hexsim.reports.phone import phone_table

    return phone_table(document)


@text_of.register
def _(document: Validation) -> str:
    from hexsim.reports.validation import validation_text

    return validation_text(document)


@text_of.register
def _(document: LanguageModel) -> str:
    from hexsim.reports.llm_table import llm_text

    return llm_text(document)


@text_of.register
def _(document: Comparison) -> str:
    from hexsim.reports.comparison import comparison_table

    return comparison_table(document)


@text_of.register
def _(document: Decision) -> str:
    from hexsim.reports.decision import decision_text

    return decision_text(document)


@text_of.register
def _(document: Sweep) -> str:
    from hexsim.reports.sweep import sweep_text

    return sweep_text(document)


@text_of.register
def _(document: AlwaysOn) -> str:
    from hexsim.reports.always_on import always_on_text

    return always_on_text(document)


@singledispatch
def csv_text_of(document: Document) -> str:
    """Return a document as CSV: its rows, or those that the tools of SNPE write."""
    return csv_of(document.rows, document.row_kind())


csv_text_of.register(Inference)(profile_csv)


@csv_text_of.register
def _(document: Benchmark) -> str:
    return benchmark_csv(document.results)


@csv_text_of.register
def _(document: Validation) -> str:
    from hexsim.reports.validation import validation_csv

    return validation_csv(document)


@csv_text_of.register
def _(document: Info) -> str:
    from hexsim.reports.network.info import info_csv

    return info_csv(document)


@csv_text_of.register
def _(document: Sweep) -> str:
    names = list(document.front[0])
    return csv_text(names, ([row[name] for name in names] for row in document.front))


def notebook_table(document: Document) -> str:
    """Return the title of a document, and a table of its rows."""
    return "".join(_table(document))


@singledispatch
def _cells(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells of the table of a document."""
    if not document.rows:
        return [], []
    kind = type(document.rows[0])
    shown = [fields(kind)[name] for name in columns(kind)]
    rows = [[field.text(getattr(row, field.name)) for field in shown] for row in document.rows]
    return [field.heading for field in shown], rows


@_cells.register
def _(document: Sweep) -> tuple[list[str], list[list[str]]]:
    from hexsim.reports.sweep import cell

    names = list(document.shown_columns)
    return names, [[cell(row[name]) for name in names] for row in document.front]


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
