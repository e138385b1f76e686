"""The roofline of `hexsim profile`: a table, a part of the JSON, and a picture."""

import json

import pytest


def test_table_json_and_picture(command, tmp_path):
    pytest.importorskip("matplotlib")
    line = "profile squeezenet1_1 --chip sd855 --roofline --picture out.png --json out.json"
    done = command(line)
    assert (done.code, done.err) == (0, "")
    assert "HVX: 1337 GMAC/s" in done.out
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert len(result["roofline"]["points"]) == 26
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "out.png"]


def test_a_table_needs_no_picture(command):
    done = command("profile squeezenet1_1 --chip sd835 --runtime cpu --roofline")
    assert done.code == 0
    assert "CPU: 39.2 GMAC/s" in done.out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("profile --chip sd835 squeezenet1_1 --picture no/out.png", "cannot write"),
        ("report q.dlc", "is the page of overview now: hexsim overview MODEL --html PAGE"),
        ("roofline squeezenet1_1", "is a part of profile now: hexsim profile MODEL --roofline"),
        ("tradeoff squeezenet1_1", "is a part of decide now: hexsim decide MODEL --files"),
    ],
)
def test_mistakes_are_one_sentence(refused, line, says):
    assert says in refused(line)


def test_other_formats_are_refused(refused):
    pytest.importorskip("matplotlib")
    assert "must end in .png or .svg" in refused(
        "profile --chip sd835 squeezenet1_1 --picture out.pdf"
    )
