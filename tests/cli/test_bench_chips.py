"""`hexsim bench` on several chips gives what it gives on each alone, by every entry point."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hexsim
from hexsim import dlc
from hexsim.datasheets import chips, measurements
from hexsim.datasheets.measurements.calibration import calibration
from tests.accuracy import culprits
from tests.cli.conftest import Done
from tests.reports.pages.conftest import data_of

Command = Callable[[str], Done]
CHIPS = ("sd855", "sd8gen2")


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """A quantised network and a float one."""
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    dlc.write(tmp_path / "m.dlc", hexsim.Model(culprits.network("outlier")))


def document(path: str) -> Any:
    return json.loads(Path(path).read_text())


def benched(command: Command, line: str, named: str, name: str) -> str:
    """Run `bench` on chips; return what it prints, and write its JSON and CSV."""
    done = command(f"bench {line} --chip {named} --json {name}.json --csv {name}.csv")
    assert (done.code, done.err) == (0, "")
    return done.out


def test_two_chips_are_two_runs(command: Command) -> None:
    line = "q.dlc m.dlc --runtime cpu,dsp,htp --timing-only"
    out = benched(command, line, ",".join(CHIPS), "both")
    alone = [benched(command, line, chip, chip) for chip in CHIPS]
    both, documents = document("both.json"), [document(f"{chip}.json") for chip in CHIPS]
    for key in ("results", "refused"):
        listed = [entry for single in documents for entry in single[key]]
        assert sorted(both[key], key=str) == sorted(listed, key=str) != []
    assert {entry["chip"] for entry in both["refused"]} == set(CHIPS)
    pairs = dict.fromkeys((case["network"], case["chip"]) for case in both["results"])
    networks = dict.fromkeys(network for network, _ in pairs)
    assert list(pairs) == [(network, chip) for network in networks for chip in CHIPS]
    rows = [
        list(csv.reader(Path(f"{name}.csv").read_text().splitlines())) for name in ("both", *CHIPS)
    ]
    assert sorted(rows[0]) == sorted([*rows[1], *rows[2][1:]])
    assert all(table in out for text in alone for table in text.split("\n\n")[:2])


def test_the_function_and_the_file_are_the_command(command: Command) -> None:
    benched(command, "q.dlc --timing-only", ",".join(CHIPS), "both")
    hexsim.benchmark("q.dlc", chips=list(CHIPS), timing_only=True).save("function.json")
    assert Path("function.json").read_bytes() == Path("both.json").read_bytes()


def test_the_fastest_and_what_is_left_out_name_the_chip(command: Command) -> None:
    out = benched(command, "q.dlc --runtime dsp,htp", ",".join(CHIPS), "both")
    assert "htp of sd8gen2" in out.partition("Fastest for ")[2].split("next")[0]
    assert " on htp of sd855 is left out: chip sd855 has no htp runtime" in out
    alone = benched(command, "q.dlc --runtime dsp", "sd855", "alone")
    assert "of sd855" not in alone


def test_what_fails_on_one_chip_loses_nothing(command: Command) -> None:
    out = benched(command, "q.dlc --runtime aip --timing-only", "sd8gen2,sd855", "both")
    assert [case["chip"] for case in document("both.json")["results"]] == ["sd855"]
    assert "on aip of sd8gen2 is left out" in out


def test_times_alone_need_no_ranges_and_say_so(command: Command) -> None:
    line = "bench ds_cnn_s --chip sd855 --runtime aip --json"
    alone, whole = command(f"{line} alone.json --timing-only"), command(f"{line} whole.json")
    assert "Quantised first, without ranges, which change no time, for aip, which" in alone.out
    assert "Quantised first, on 8 seeded inputs, for aip, which" in whole.out
    (times,), (both,) = (document(f"{name}.json")["results"] for name in ("alone", "whole"))
    words = "8 bits, quantised here for times"
    assert times == {**both, "accuracy": None, "calibrated_on": None, "precision": words}


def test_draws_and_clients_are_those_of_each_chip(command: Command) -> None:
    line = "q.dlc --runtime dsp,cpu --timing-only"
    for more in ("--uncertainty joint --draws 2", "--background camera"):
        out = benched(command, f"{line} {more}", "sd835,sd855", "both")
        listed = []
        for chip in ("sd835", "sd855"):
            benched(command, f"{line} {more}", chip, chip)
            listed.append(document(f"{chip}.json"))
        for key in ("results", "orders"):
            assert document("both.json")[key] == [entry for each in listed for entry in each[key]]
    assert " on dsp of sd835 beside camera" in out
    assert " on dsp of sd855 beside camera" in out


def test_compare_pairs_equal_chips(command: Command) -> None:
    """Chips in another order are the same chips; a file of one chip is compared with another."""
    line = "q.dlc --runtime cpu,dsp --timing-only"
    benched(command, line, "sd835,sd855", "a")
    benched(command, line, "sd855,sd835", "b")
    done = command("compare a.json b.json --json c.json")
    assert (done.code, "only " in done.out) == (0, False)
    cases = document("c.json")["cases"]
    assert [case["conditions"] for case in cases] == [[]] * 4
    assert {case["place"].split(" of ")[1] for case in cases} == {"sd835", "sd855"}
    assert f"{cases[0]['network']} on cpu of sd835: " in done.out
    ratios = {figure["ratio"] for case in cases for figure in case["figures"][:4]}
    assert ratios == {1.0}


def test_the_page_has_one_time_axis(command: Command) -> None:
    line = "bench --chip sd835 q.dlc --runtime dsp,htp --timing-only --html p.html"
    assert command(f"{line} --chip {','.join(CHIPS)}").code == 0
    titled = {figure["title"]: figure for figure in data_of(Path("p.html").read_text())["figures"]}
    runs = titled["Inferences below each other"]["table"]["rows"]
    assert {name for name, _ in runs} == {"dsp of sd855", "htp of sd8gen2"}


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("sd855,nosuch", "unknown chip 'nosuch'"),
        (",", "no chip is named"),
        ("sd855,mine.toml", "two of the chips have the same name"),
        ("sd855,sd8gen2 --vtcm 2", "sd855 has no tensor processor; --vtcm"),
    ],
)
def test_chips_that_are_wrong(refused: Callable[[str], str], named: str, sentence: str) -> None:
    Path("mine.toml").write_text((Path(chips.__file__).parent / "sd855.toml").read_text())
    assert sentence in refused(f"bench q.dlc --chip {named}")


def test_left_out_stands_beside_what_was_measured(command: Command) -> None:
    """By the record of the fit, for each of its rows that has a time without its chip."""
    out = command("bench --chip sd835 alexnet --timing-only --left-out --runtime gpu,dsp").out
    assert "these [x] too" in out.partition("alexnet on sd835, ")[2].splitlines()[0]
    rows = [line.split()[3:] for line in out.splitlines() if line.startswith("  chip left out")]
    for cells, forward in zip(rows, (False, True), strict=True):
        for cell, runtime in zip(cells, ("gpu", "dsp"), strict=True):
            (row,) = measurements.find("alexnet", "sd835", "snpe-1.23", runtime, forward=forward)
            predicted_ms = calibration().predicted_ms(row.key, "chip left out")
            assert predicted_ms is not None
            assert float(cell) == pytest.approx(predicted_ms, rel=0.01)
    assert (
        "chip left out"
        not in command("bench --chip sd835 alexnet --timing-only --runtime gpu,dsp").out
    )


def test_measured_times_rank_if_they_are_asked_for(command: Command) -> None:
    line = "bench --chip sd835 alexnet --timing-only --runtime gpu,dsp"
    assert "as measured" not in command(line).out.partition("alexnet on sd835")[0]
    assert (
        "Fastest for alexnet on sd835: dsp, 23 ms as measured"
        in command(f"{line} --rank measured").out
    )


def test_time_outside_the_forward_pass_is_explained(command: Command) -> None:
    assert (
        "5.50 ms of cpu are outside the forward pass (cpu_runtime)"
        in command("bench conv1x1_8to8@4x4 --chip sd835 --timing-only --runtime cpu,dsp").out
    )
    assert (
        "cpu_runtime"
        not in command("bench --chip sd835 alexnet --timing-only --runtime cpu,dsp").out
    )
