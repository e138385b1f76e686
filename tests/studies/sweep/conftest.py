"""Spaces of a small network, written as their files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space, read_space
from tests.dlc.made import small_network

GRID = """
networks = ["m.dlc"]
chips = ["sd835", "sd855"]
runtimes = ["dsp", "cpu"]
draws = 3

[workload]
idle_ms = [0, 5]

[constants."dsp.hvx.contexts"]
values = [1, 2]

[constants."memory.ddr_peak_bytes_per_s"]
low = 1e10
high = 4e10
steps = 3
scale = "log"

[constants."memory.efficiency"]
drawn = true
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with m.dlc, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    dlc.write(Path("m.dlc"), Model(small_network()))
    return tmp_path


@pytest.fixture
def space(folder: Path) -> Callable[[str], Space]:
    """A function that reads a space from its text."""

    def read(text: str = GRID) -> Space:
        (folder / "space.toml").write_text(text)
        return read_space(Path("space.toml"))

    return read


@pytest.fixture
def grid(space: Callable[[str], Space]) -> Points:
    """All points of `GRID`."""
    asked = space(GRID)
    return Points(asked, settings(asked))
