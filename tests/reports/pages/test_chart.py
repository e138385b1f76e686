"""What a page draws is the same in every process."""

import json

from hexsim.reports.pages.figures.chart import chart, item, source


def drawn() -> str:
    made = chart("us", "MACs", x_axis_type="log", y_axis_type="log")
    made.scatter("x", "y", source=source({"x": [1.0, 2.0], "y": [3.0, 4.0], "name": ["p1", "id"]}))
    return json.dumps(item(made))


def test_ids_do_not_say_what_was_drawn_before() -> None:
    first = drawn()
    assert first == drawn()
    assert '["p1", "id"]' in first
