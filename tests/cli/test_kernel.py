"""`hexsim kernel`."""

import json

import pytest


def test_a_convolution_is_shown_down_to_its_packets(command):
    done = command("kernel conv --chip sd855 --shape 56x56x64:64:3x3 --json out.json")
    assert done.code == 0
    assert "VTCM" in done.out
    assert "initiation interval" in done.out
    assert "vrmpyz" in done.out
    with open("out.json", encoding="utf-8") as file:
        document = json.load(file)
    stream = document["streams"][0]
    assert stream["name"] == "conv v66"
    packets = sum(len(segment["packets"]) * segment["times"] for segment in stream["segments"])
    assert packets == stream["slots_per_tile"] - stream["stalls_per_tile"]
    assert f"{stream['slots_per_tile']} slots" in done.out
    for segment in stream["segments"]:
        if segment["initiation_interval"] is not None:
            assert segment["initiation_interval"] >= segment["resource_bound"]
    assert document["blocking"]["weight_groups"] == 1
    assert 0 < document["cost"]["efficiency"] < 1


def test_a_chip_changes_the_form(command):
    form = {}
    for chip in ("sd835", "sd845", "sd855"):
        assert command(f"kernel conv --chip {chip} --shape 28x28x64:64:1x1 --json o.json").code == 0
        with open("o.json", encoding="utf-8") as file:
            form[chip] = json.load(file)["blocking"]["form"]
    assert form == {"sd835": "v60", "sd845": "v65", "sd855": "v66"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kernel convolution --shape 1x1x1", "did you mean conv?"),
        ("kernel conv --shape banana", "is not a shape that conv takes"),
        ("kernel relu --shape 5x5x5 --chip sd778g", "cannot be simulated on dsp"),
        ("kernel relu --shape 5x5x5 --json missing/x.json", "cannot write"),
    ],
)
def test_what_cannot_be_shown_is_refused(refused, line, says):
    assert says in refused(line)


def test_profiles_show_packets_stalls_and_utilisation(command):
    done = command("profile squeezenet1_1 --chip sd835")
    assert done.code == 0
    (line,) = (splitline for splitline in done.out.splitlines() if splitline.startswith("layer "))
    header = line.split()
    assert {"packets", "stalls", "used"} <= set(header)
    fire = next(line for line in done.out.splitlines() if line.startswith("fire2/squeeze1x1"))
    stalls, hvx = [cell for cell in fire.split() if cell.endswith("%")][1:3]
    assert 10 <= int(stalls.rstrip("%")) <= 30
    assert 0 < int(hvx.rstrip("%")) <= 100
