"""`hexsim roofline`."""

import csv
import json

import pytest


def test_table_json_csv_and_picture(command, tmp_path):
    pytest.importorskip("matplotlib")
    done = command("roofline squeezenet1_1 --chip sd855 -o out.png --json out.json --csv out.csv")
    assert (done.code, done.err) == (0, "")
    assert "HVX: 1337 GMAC/s" in done.out
    document = json.loads((tmp_path / "out.json").read_text())
    with (tmp_path / "out.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(document["points"]) == 26
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.json", "out.png"]


def test_a_table_needs_no_picture(command):
    done = command("roofline squeezenet1_1 --chip sd835 --runtime cpu")
    assert done.code == 0
    assert "CPU: 39.2 GMAC/s" in done.out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("roofline squeezenet1_1 --json no/out.json", "cannot write"),
        ("roofline squeezenet1_1 -o no/out.png", "cannot write"),
        ("roofline squeezenet1_1 --runtime dsp,cpu", "give one runtime"),
        ("roofline squeezenet1_1 --chip sd835 --runtime aip", "has no aip runtime"),
        ("roofline nothing.onnx", "no such file"),
    ],
)
def test_mistakes_are_one_sentence(refused, line, says):
    assert says in refused(line)


def test_other_formats_are_refused(refused):
    pytest.importorskip("matplotlib")
    assert "must end in .png or .svg" in refused("roofline squeezenet1_1 -o out.pdf")
