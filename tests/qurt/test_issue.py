from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.qurt.issue import IssueRule
from hexsim.simulation.phone import Phone

DYNAMIC = IssueRule(
    clock_hz=600e6,
    hardware_threads=3,
    clusters=1,
    multithreading="dynamic",
    clocks_per_packet=2,
    lone_scalar_speedup=1.25,
    scalar_fed_stall=1.0,
    l2_bytes_per_clock=128,
    scalar_multipliers=2,
    scalar_multipliers_shared=True,
    switch_clocks=0,
)


def test_600_mhz_of_a_barrel_are_three_threads_of_200() -> None:
    barrel = replace(DYNAMIC, multithreading="barrel")
    assert barrel.clock_hz / barrel.slot_clocks == 200e6
    assert barrel.lone_speedup == 1


def test_a_dynamic_core_follows_its_own_rule_however_many_threads_it_has() -> None:
    assert (DYNAMIC.slot_clocks, DYNAMIC.lone_speedup) == (2, 1.25)


@pytest.mark.parametrize("threads", [3, 6])
def test_a_chip_file_chooses_the_barrel(tmp_path: Path, threads: int) -> None:
    text = (Path(chips.__file__).parent / "sd835.toml").read_text()
    count = f'{{ value = {threads}, unit = "1", source = "a book", confidence = "documented" }}'
    lines = f'[dsp]\nmultithreading = "barrel"\nhardware_threads = {count}\n'
    (tmp_path / "old.toml").write_text(text.replace("[dsp]\n", lines, 1))
    stack = stacks.load("snpe-1.23")
    core = Phone(chips.load(tmp_path / "old.toml"), stack, [stack.profile()]).dsp.core
    assert core.packets_in(10**12) == pytest.approx(core.rule.clock_hz / threads)
    assert chips.load("sd835").dsp.multithreading == "dynamic"
