"""`hexsim always-on`: both alternatives, one of them, and what is refused."""

import json

import pytest


def test_both_alternatives_of_a_keyword_network(command, tmp_path):
    line = "always-on ds_cnn_s --every 20 --chip sd855 --json out.json"
    code, out, err = command(line)
    assert (code, err) == (0, "")
    assert out.startswith("ds_cnn_s every 20 ms on sd855, snpe-1.30, high_performance\n")
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["better"] == "island"
    for alternative in document["alternatives"]:
        parts = [power["value"] for power in alternative["parts_mw"].values()]
        assert sum(parts) == pytest.approx(alternative["average_power_mw"]["value"])
        assert 0 < alternative["duty"] < 1
    assert "The island is the better: 1/" in out
    first = (tmp_path / "out.json").read_text()
    command(line)
    assert (tmp_path / "out.json").read_text() == first


def test_one_alternative_has_no_rival(command):
    out = command("always-on ds_cnn_s --every 20 --chip sd855 --on dsp").out
    assert "island" not in out
    assert "Average power on the dsp: " in out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("always-on squeezenet1_1 --every 200 --chip sd855 --on island", "without DDR"),
        ("always-on ds_cnn_s --every 20 --chip sd710 --on island", "no low-power island of chip"),
        ("always-on ds_cnn_s --every 20", "[dsp] is not known"),
        ("always-on ds_cnn_s --every 20", "--chip sd865 has it, and sd855, "),
        ("always-on ds_cnn_s --every 20 --on isle", "unknown --on 'isle'; did you mean island?"),
        ("always-on ds_cnn_s --every 0 --chip sd855", "give --every between 1 and"),
    ],
)
def test_refusals(refused, line, says):
    assert says in refused(line)
