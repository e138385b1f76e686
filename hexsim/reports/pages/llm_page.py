"""The page of a language model: its tables, where the time goes as bars, and timelines."""

from dataclasses import replace
from typing import Any

from hexsim.reports.colours import SERIES
from hexsim.reports.inference.energy import millijoules
from hexsim.reports.llm_table import headline, sections, title
from hexsim.reports.pages.figures.chart import chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.timeline import timeline
from hexsim.reports.pages.report import Heading, report
from hexsim.results.language_model import LanguageModel
from hexsim.texts.figures import figure, size


def llm_page(speed: LanguageModel, command: str) -> str:
    """Return the page, with timelines if recorded; HexsimError without the library that draws."""
    figures = []
    for section in sections(speed):
        rows = FigureTable(section.header, section.rows)
        drawn = Figure(section.title, section.remark, rows)
        if section.header[0] == "time":
            drawn = replace(
                drawn,
                chart=_bars(speed),
                legend=tuple(zip(SERIES, speed.token.parts_ms, strict=False)),
            )
        figures.append(drawn)
    figures.sort(key=lambda drawn: drawn.chart is None)  # the picture stands before the tables
    for name, result in (speed.timelines or {}).items():
        figures.append(replace(timeline(result), title=f"Timeline of a {name}"))
    prompt = speed.conditions.prompt
    summary = (
        ("Tokens per second", figure(speed.tokens_per_second)),
        (f"First token, prompt of {prompt}", f"{figure(speed.first_token_ms[prompt] / 1e3)} s"),
        ("Peak memory", size(speed.memory_bytes.peak)),
        ("Energy of a token", f"{millijoules(speed.token.energy)} mJ"),
    )
    heading = Heading(title(speed), "", command, summary, (headline(speed) + ".",))
    return report(heading, figures)


def _bars(speed: LanguageModel) -> Any:
    """Return the times of a token and of a block as bars, one part after the other."""
    plot = chart("ms", "", height=180, tooltip=(("", "@name"), ("takes", "@ms{0.00} ms")))
    labels = ("token", "block")
    for row, passed in enumerate((speed.token, speed.block)):
        left = 0.0
        columns: dict[str, list[Any]] = {key: [] for key in ("name", "left", "right", "ms")}
        for name, ms in passed.parts_ms.items():
            right = left + ms
            for key, value in zip(columns, (name, left, right, right - left), strict=True):
                columns[key].append(value)
            left = right
        colours = list(SERIES[: len(speed.token.parts_ms)])
        plot.quad(
            left="left",
            right="right",
            bottom=-row - 0.4,
            top=-row + 0.4,
            fill_color="colour",
            line_color=None,
            fill_alpha="alpha",
            source=source({**columns, "colour": colours}),
        )
    plot.yaxis.ticker = [0, -1]
    plot.yaxis.major_label_overrides = {-row: label for row, label in enumerate(labels)}
    plot.ygrid.visible = False
    plot.x_range.start = 0
    return plot
