"""Each program of examples/ runs as its first lines say, and prints what it is there to show."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.pages import ROOT

EXAMPLES = ROOT / "examples"
Example = Callable[..., str]


@pytest.fixture
def example(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Example:
    """A function that runs a program and returns what it prints."""

    def run(name: str, *words: str) -> str:
        monkeypatch.setattr("sys.argv", [name, *words])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def cells(printed: str, first: str) -> list[str]:
    """The words of the only line that begins so, but for those."""
    (line,) = (line for line in printed.splitlines() if line.startswith(first))
    return line.removeprefix(first).split()


def test_quickstart_tells_class_time_and_slowest_layers(example: Example) -> None:
    head, *layers = example("quickstart.py").splitlines()
    assert re.fullmatch(r"class \d+ in \d+\.\d\d ms", head)
    times = [float(line.split()[1]) for line in layers]
    assert len(times) == 5
    assert times == sorted(times, reverse=True)


def test_quickstart_takes_a_file(example: Example) -> None:
    assert "pw3" in example("quickstart.py", str(EXAMPLES / "digits" / "digits.onnx"))


def test_runtimes_are_compared_fastest_first(example: Example) -> None:
    rows = [line.split() for line in example("compare_runtimes.py").splitlines()[1:]]
    for chip in ("sd835", "sd845", "sd855"):
        mine = [row for row in rows if row[0] == chip]
        times = [float(row[-1]) for row in mine]
        assert times == sorted(times)
        files = {(runtime, file) for _, runtime, file, *_ in mine}
        assert ("dsp", "float") in files
        assert ("fxp_cpu", "float") in files, "it is quantised first"


def test_the_layer_that_hurts_is_found_and_mended(example: Example) -> None:
    printed = example("find_what_hurts.py")
    before, hurt = (float(cells(printed, name)[0]) for name in ("pw1", "dw2"))
    assert before > hurt + 20, "here the answers are lost"
    lost, *_ = cells(printed, "as it is")
    mended, right = cells(printed, "equalised")
    assert float(mended) > float(lost) + 20
    assert right == "38/40"


def test_other_hardware_changes_what_the_network_hangs_on(example: Example) -> None:
    printed = example("what_if_hardware.py", "squeezenet1_1")
    halved, as_it_is, doubled = map(float, cells(printed, "dsp.clocks_hz.turbo"))
    assert halved > as_it_is > doubled > as_it_is / 2
    assert len(printed.splitlines()) == 5


@pytest.mark.slow
def test_more_networks_are_slower_each_until_they_do_not_keep_up(example: Example) -> None:
    rows = [line.split() for line in example("throughput_of_a_camera.py").splitlines()[2:]]
    rates = [float(row[1]) for row in rows]
    assert rates == sorted(rates, reverse=True)
    assert rows[0][-1] == "yes"
    assert rows[-1][-1] == "no"
    assert [float(slowest) * 60 <= 1000 for _, _, slowest, _ in rows] == [
        keeps_up == "yes" for *_, keeps_up in rows
    ]


@pytest.mark.slow
def test_three_chips_list_their_longest_layers_and_draw_all(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    lines = example("three_chips.py").splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [head.split(":")[0] for head in heads] == ["sd835", "sd855", "sd865"]
    assert (tmp_path / "layers.png").stat().st_size > 1000


@pytest.mark.slow
def test_three_chips_is_typed() -> None:
    """A user's script knows the type of every field."""
    words = ["--strict", str(EXAMPLES / "three_chips.py")]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stdout.decode()
