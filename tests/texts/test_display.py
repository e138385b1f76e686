"""Things in a notebook: short lines, tables whose names are no markup, frames of pandas."""

import sys
from xml.etree import ElementTree

import pytest

import hexsim
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.texts.display import MOST_ROWS, DisplayTable, Shown
from tests.dlc.made import small_network, with_encodings

HOSTILE = "<script>alert('&')</script>\x1b[2J"


class Made(Shown):
    def __init__(self, rows: int) -> None:
        self.rows = tuple((f"{HOSTILE}{n}", n, None) for n in range(rows))

    def display_table(self) -> DisplayTable:
        return DisplayTable(HOSTILE, ("name", "size", HOSTILE), self.rows, bars="size")


def page(shown: Shown) -> ElementTree.Element:
    """The HTML, which is XML as well."""
    return ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")


def test_names_are_text_in_html_and_in_the_prompt() -> None:
    root = page(Made(3))
    assert not list(root.iter("script"))
    text = "".join(root.itertext())
    assert text.count("<script>alert('&')</script>") == 5
    assert "\x1b" not in text
    assert "\x1b" not in repr(Made(3))
    assert "\n" not in repr(Made(3))


def test_bars_are_as_long_as_their_numbers() -> None:
    widths = [int(bar.get("width", "")) for bar in page(Made(5)).iter("rect")]
    assert widths == [0, 30, 60, 90, 120]
    assert all(bar.get("width") == "0" for bar in page(Made(1)).iter("rect"))
    assert not list(page(Made(0)).iter("rect"))


def test_long_tables_are_cut_and_say_so() -> None:
    root = page(Made(MOST_ROWS + 2))
    assert len(list(root.iter("tr"))) == 1 + MOST_ROWS
    assert "2 more rows; to_dataframe() has all." in "".join(root.itertext())


def test_a_simulation_a_model_and_a_plan_show_themselves() -> None:
    model = with_encodings(small_network())
    simulation = hexsim.simulate(model, chip="sd835")
    plan = deploy(model, Platform.load("sd835"), "dsp").plan
    for shown, start in (
        (simulation, "<Simulation: "),
        (model, f"<Model: {model.name}, quantised, 4 layers, 564 parameters"),
        (plan, f"<Plan: {model.name} on dsp, 1 subnet>"),
    ):
        assert repr(shown).startswith(start)
        assert "\n" not in repr(shown)
        rows = list(page(shown).iter("tr"))
        assert len(rows) == 1 + len(shown.display_table().rows)
    times = {row[0]: row[3] for row in simulation.display_table().rows}
    assert sum(map(float, times.values())) == pytest.approx(simulation.total_us)  # type: ignore[arg-type]
    assert [row[0] for row in model.display_table().rows] == [
        layer.name for layer in model.network.layers
    ]
    assert all(row[7] == 8 for row in model.display_table().rows)


def test_a_frame_has_the_rows_of_the_table() -> None:
    pandas = pytest.importorskip("pandas")
    model = with_encodings(small_network())
    frame = model.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert tuple(frame.columns) == model.display_table().columns
    assert int(frame["MACs"].sum()) == model.network.total_macs


def test_without_pandas_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(HexsimError, match=r"pip install .*\[notebook\]'"):
        with_encodings(small_network()).to_dataframe()
