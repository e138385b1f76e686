"""The page of a kernel: for each loop its packets on slots, pipes and ports, drawn as rows of time.

A row is an issue slot, or a stall of one or more, with what it waits for. Filled fields are slots
and vector pipes that the packet of the row uses.
"""

from collections.abc import Iterator
from html import escape

from hexsim.reports.kernel import helping, needed, ran
from hexsim.reports.pages.figures.chart import Columns, Figure, table_of
from hexsim.reports.pages.page import Heading, report
from hexsim.reports.text import number
from hexsim.results.kernel import Kernel, KernelLoop, LoopPacket, Run
from hexsim.texts.figures import figure, percent
from hexsim.texts.text import visible

_COLUMNS = ("0", "1", "2", "3", "", "P", "S", "M", "M")
_FIELD, _ROW, _TEXT, _HEAD, _LETTER = 18, 20, 56, 24, 6.7
_SLOT, _PIPE, _STALL = "#7a9cc6", "#d9a441", "#c0504d"
_MOST_ROWS = 400


def kernel_page(answer: Kernel, command: str) -> str:
    """Return the page of a kernel with loops."""
    figures = [_overview(answer), *map(_loop, answer.loops)]
    if answer.run is not None:
        figures.insert(0, _run(answer.run))
    if answer.changes:
        figures.insert(0, _changes(answer))
    code = "" if answer.code_version is None else f"code for V{answer.code_version}, "
    longest = sorted(answer.loops, key=lambda loop: -(loop.total_clocks or 0))
    heading = Heading(
        f"{answer.kernel} {answer.shape}".strip() + f" on {answer.chip}",
        f"{code}chip of V{answer.version}, {answer.stack}",
        command,
        (*_figures(answer), ("Stalls", f"{sum(loop.stalls for loop in answer.loops)}")),
        tuple(f"{loop.name} is limited by {loop.limit}." for loop in longest[:3]),
    )
    return report(heading, figures)


def _figures(answer: Kernel) -> Iterator[tuple[str, str]]:
    if answer.cost is not None:
        yield "Time", f"{figure(answer.cost.us)} us"
        yield "Of the peak", percent(answer.cost.efficiency)
    elif answer.run is not None:
        yield "Clocks", figure(answer.run.rates[0].clocks)
    elif len(answer.loops) == 1:
        yield "Clocks of an iteration", figure(answer.loops[0].clocks)
    yield "Loops", f"{len(answer.loops)}"


def _overview(answer: Kernel) -> Figure:
    columns: Columns = {
        **{"loop": "name", "packets": "packets_issued", "stalls": "stalls", "clocks": "clocks"},
        "bound": lambda loop: max(loop.resource_bound, loop.recurrence_bound),
        "bytes": lambda loop: loop.load_bytes + loop.store_bytes,
        **{"limited by": "limit", "at most": helping},
    }
    text = "An iteration of each loop on one thread, in its steady state, without memory."
    return Figure("Loops", text, table_of(answer.loops, columns))


def _run(facts: Run) -> Figure:
    columns: Columns = {
        **{"threads": "threads", "contexts": "contexts", "clocks": "clocks"},
        **{"share in L2": "l2_hits", "bytes of DDR, each": "ddr_bytes", "limited by": "limit"},
    }
    text = " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in ran(facts))
    return Figure("The program", text, table_of(facts.rates, columns))


def _changes(answer: Kernel) -> Figure:
    columns: Columns = {
        **{"loop": "name", "clocks": "clocks", "clocks there": "other_clocks"},
        **{"B/clk": "bytes_per_clock", "B/clk there": "other_bytes_per_clock"},
        **{"times as fast": "faster"},
    }
    title = f"Against {visible(answer.against or '')}"
    text = "An iteration of each loop, and how much faster it moves its data, in both versions."
    return Figure(title, text, table_of(answer.changes, columns))


def _loop(loop: KernelLoop) -> Figure:
    columns: Columns = {
        **{"threads": "threads", "contexts": "contexts", "share of issue": "issue_share"},
        **{
            "clocks": "clocks",
            "clocks from L2": "l2_clocks",
            "clocks from DDR": "ddr_clocks",
            "keeps up": "memory",
        },
    }
    text = (
        f"{number(loop.slots, 'slot')}, {figure(loop.clocks)} clocks an iteration; "
        f"limited by {loop.limit}. It needs {needed(loop)}. "
        "The table has several threads with the loop at a time. "
        + " ".join(f"Note: {remark}." for remark in loop.remarks)
    )
    legend = ((_SLOT, "slot"), (_PIPE, "vector pipe"), (_STALL, "stall"))
    drawing = "\n".join(_drawing(loop)) + "\n"
    table = table_of(loop.threads, columns)
    return Figure(loop.name, text.strip(), table, legend=legend, drawing=drawing)


def _drawing(loop: KernelLoop) -> Iterator[str]:
    packets = loop.packets[:_MOST_ROWS]
    rows = sum(1 + (packet.stall > 0) for packet in packets)
    longest = max((max(len(_text(p)), len(_stall(p))) + 2 for p in packets), default=0)
    left = _TEXT + len(_COLUMNS) * _FIELD + 12
    width, height = left + longest * _LETTER, _HEAD + rows * _ROW + 8
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" data-fold="{width:g}" font-family="monospace" '
        'font-size="11">'
    )
    yield '<rect width="100%" height="100%" class="paper" fill="white"/>'
    yield _words(8, _HEAD - 8, "clock")
    for column, name in enumerate(_COLUMNS):
        yield _words(_TEXT + column * _FIELD + 5, _HEAD - 8, name)
    top = _HEAD
    for packet in packets:
        if packet.stall:
            yield _field(_TEXT, top, (len(_COLUMNS) * _FIELD) - 2, _STALL)
            yield _words(left, top + 14, _stall(packet))
            top += _ROW
        yield from _packet(packet, top, left)
        top += _ROW
    yield "</svg>"


def _stall(packet: LoopPacket) -> str:
    return f"{number(packet.stall, 'slot')} empty: {packet.cause}"


def _text(packet: LoopPacket) -> str:
    return packet.asm if packet.executed is None else f"{packet.executed}x {packet.asm}"


def _packet(packet: LoopPacket, top: float, left: float) -> Iterator[str]:
    yield _words(8, top + 14, f"{packet.clock:g}")
    used = f"{packet.slots} {packet.pipes}"
    for column, letter in enumerate(used[: len(_COLUMNS)]):
        if letter not in ". ":
            colour = _SLOT if column < len(packet.slots) else _PIPE
            yield _field(_TEXT + column * _FIELD, top, _FIELD - 2, colour)
    yield _words(left, top + 14, _text(packet))


def _field(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:g}" y="{y + 1:g}" width="{width:g}" height="{_ROW - 2}" fill="{colour}"/>'


def _words(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="label">{escape(text)}</text>'
