"""Plain text tables and quantities.

Tables fit a narrow page, lose no more than they say, and are whole where there is no width.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.reports.text import number, page, quantity, short_name, table, wrapped


def test_columns_line_up() -> None:
    text = table(("name", "us"), [("conv1", "7.25"), ("x", "1000.00")])
    assert text.splitlines() == [
        "name        us",
        "-----  -------",
        "conv1     7.25",
        "x      1000.00",
    ]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (825e6, "Hz", "825 MHz"),
        (3.5e9, "B/s", "3.5 GB/s"),
        (2**18, "B", "256 KiB"),
        (250e-9, "s", "250 ns"),
        (0, "s", "0 s"),
        (4, "1", "4"),
        (1024, "MAC/clk", "1024 MAC/clk"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_a_count_has_its_noun() -> None:
    assert [number(count, "point") for count in (0, 1, 2)] == ["0 points", "1 point", "2 points"]


HEADER = ("layer", "type", "on", "us", "why")
LEFT = frozenset({0, 1, 2, 4})
ROWS = [
    ("model_1/block_16_expand_relu/Relu6", "convolutional", "hvx", "32.1", "it is the largest one"),
    ("y", "neuron", "cpu", "3.2", ""),
]
CELL = st.text("ab c", max_size=40).map(str.strip)


def shown(width: int | None, *first_to_go: int) -> str:
    with page(width):
        return table(HEADER, ROWS, left=LEFT, first_to_go=first_to_go)


def test_a_page_without_a_width_shows_all() -> None:
    assert shown(None) == shown(1000) == table(HEADER, ROWS, left=LEFT)
    assert all(cell in shown(None) for row in ROWS for cell in row)


def test_names_keep_both_ends_and_sentences_break() -> None:
    assert shown(65).splitlines() == [
        "layer                type           on     us  why",
        "-------------------  -------------  ---  ----  ------------------",
        "model_1/b…elu/Relu6  convolutional  hvx  32.1  it is the largest",
        "                                               one",
        "y                    neuron         cpu   3.2",
    ]


def test_columns_go_in_their_order_and_are_named() -> None:
    text = shown(44, 2, 1)
    assert text.splitlines()[0].split() == ["layer", "us", "why"]
    assert text.endswith("(no room for type, on; wide=True shows all)")


def test_a_name_that_is_needed_whole_is_not_cut_and_stays_left() -> None:
    with page(65):
        text = table(HEADER, ROWS, left=LEFT, first_to_go=(4, 1), whole=frozenset({0}))
    assert [line.rstrip() for line in text.splitlines()[2:4]] == [
        "model_1/block_16_expand_relu/Relu6  convolutional  hvx  32.1",
        "y                                   neuron         cpu   3.2",
    ]


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("a sentence that is long", ["a sentence that is", "  long"]),
        ("  a note that is long too", ["  a note that is", "    long too"]),
        ("latency  4 ms and more, 5", ["latency  4 ms and", "         more, 5"]),
        ("a-name-that/is-longer than the page", ["a-name-that/is-longer", "  than the page"]),
        ("next step  hexsim convert model.onnx", ["next step  hexsim convert model.onnx"]),
        ("  snpe-net-run --container model.dlc", ["  snpe-net-run --container model.dlc"]),
    ],
)
def test_text_breaks_between_words_and_commands_stay_whole(line: str, lines: list[str]) -> None:
    with page(20):
        assert wrapped(line).split("\n") == lines
    assert wrapped(line) == line


def test_a_name_in_a_sentence_keeps_both_ends() -> None:
    assert short_name("x" * 40) == "x" * 40
    assert short_name("a" * 200 + "z" * 200) == "a" * 20 + "…" + "z" * 19


def test_only_columns_that_are_shown_are_explained() -> None:
    explained = {("us", "type"): "as given", ("on",): "an engine"}
    with page(44):
        text = table(HEADER, ROWS, left=LEFT, first_to_go=(2, 1), explained=explained)
    assert text.endswith("(no room for type, on; wide=True shows all)\n\nus: as given")
    text = table(HEADER, ROWS, left=LEFT, explained=explained)
    assert text.endswith("\n\nus, type: as given\non: an engine")


def test_the_first_column_stays() -> None:
    assert shown(1).splitlines()[0] == "layer"


def test_a_line_of_a_column_that_went_goes_with_it() -> None:
    with page(20):
        text = table(("name", "inputs"), [("a" * 18, "b"), ("", "c"), ("", "")])
    assert text.splitlines()[2:] == ["a" * 18, "", "(no room for inputs; wide=True shows all)"]


@given(
    st.integers(2, 5).flatmap(lambda n: st.lists(st.tuples(*[CELL] * n), min_size=1, max_size=4)),
    st.integers(20, 120),
    st.sets(st.integers(0, 4)),
)
def test_any_table_fits(rows: list[tuple[str, ...]], width: int, left: set[int]) -> None:
    header = HEADER[: len(rows[0])]
    with page(width):
        *lines, last = table(header, rows, left=frozenset(left)).splitlines()
    lines += [] if last.startswith("(no room") else [last]
    columns = lines[1].count("  ") + 1
    assert columns == 1 or max(map(len, lines)) <= width
    assert (columns < len(header)) == last.startswith("(no room for")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_room_is_used(width: int) -> None:
    """No column is missing that would fit, and no name is cut where there is room."""
    natural = max(map(len, shown(None).splitlines()))
    widest = max(map(len, shown(width).splitlines()[:-1]))
    assert widest == natural if width >= natural else widest > width - 24
