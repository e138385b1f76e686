"""Warm and cold: what idle time costs, and the switch that keeps the hardware awake."""

from collections.abc import Callable
from pathlib import Path

import pytest

import hexsim
from hexsim import dlc
from tests.dlc.made import small_network, with_encodings

Command = Callable[[str], tuple[int, str, str]]
LINE = "--chip sd855 --runtime aip --perf-profile balanced --idle-ms 4"


@pytest.fixture(autouse=True)
def model(tmp_path: Path) -> None:
    model = with_encodings(small_network())
    dlc.write(tmp_path / "p.dlc", model)
    dlc.write(tmp_path / "q.dlc", hexsim.compile_hta(model, "sd855"))


def test_a_cold_call_wakes_dsp_and_hta(command: Command) -> None:
    code, out, _ = command(f"profile --chip sd835 q.dlc {LINE}")
    assert code == 0
    assert "(dsp_wake)" in out
    assert "(hta_wake)" in out
    assert " hta " in out


def test_without_sections_there_is_no_hta_to_wake(command: Command) -> None:
    _, out, _ = command(f"profile --chip sd835 p.dlc {LINE}")
    assert "(dsp_wake)" in out
    assert "(hta_wake)" not in out


def test_power_collapse_can_be_switched_off(command: Command) -> None:
    code, out, _ = command(f"profile --chip sd835 q.dlc {LINE} --no-power-collapse")
    assert code == 0
    assert "_wake)" not in out
