"""A partition is the same document from Python, from a file and from the command."""

from pathlib import Path

import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.results.partition import Partition
from tests.reports.pages.conftest import data_of


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    cut = hexsim.partition("alexnet", search=True, chip="sd855")
    cut.save(tmp_path / "p.json")
    read = Partition.load(tmp_path / "p.json")
    assert read.to_json() == cut.to_json()
    assert str(read) == str(cut)
    assert cut.search is not None
    assert cut.search.gain.low <= cut.search.gain.value <= cut.search.gain.high
    assert cut.to_csv().startswith("runtime,engine,ids,layers,macs,us\n")
    with pytest.raises(HexsimError, match="only a cut that was made here has a page"):
        read.html()


def test_a_tensor_processor_has_subnets_without_cuts() -> None:
    model = hexsim.load("squeezenet1_1")
    cut = hexsim.partition(model, "sd888", "htp_fp16")
    assert (cut.cuts, cut.search, cut.hvx_us) == ((), None, None)
    assert cut.total_us > 0
    assert sum(len(piece.layers) for piece in cut.pieces) == len(model.network.layers)
    assert [row["title"] for row in data_of(cut.html())["figures"]] == ["Subnets"]
    with pytest.raises(HexsimError, match="lists of sections and search are for aip"):
        hexsim.partition(model, "sd8gen2", "htp_fp16", search=True)
