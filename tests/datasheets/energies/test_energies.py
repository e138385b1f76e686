"""The shipped constants of energy, and which chip takes which."""

import pytest
from msgspec import structs

from hexsim.datasheets import chips, energies
from hexsim.errors import HexsimError


def test_every_chip_is_made_in_one_process_at_most_and_exists() -> None:
    listed = [chip for name in energies.names() for chip in energies.load(name).chips]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(chips.names())


def test_every_simulated_chip_has_a_process() -> None:
    simulated = [name for name in chips.names() if chips.load(name).dsp_table is not None]
    processes = {energies.datasheet_of(chips.load(name)).name for name in simulated}
    assert "unknown-process" not in processes


def test_a_chip_of_no_known_process_gets_wide_bounds() -> None:
    own = structs.replace(chips.load("sd835"), name="mine")
    sheet = energies.datasheet_of(own)
    assert sheet.name == "unknown-process"
    assert (sheet.at_end("low").process_scale, sheet.at_end("high").process_scale) == (0.5, 2.0)
    like = structs.replace(own, like="sd855")
    assert energies.datasheet_of(like).name == "7nm"


def test_both_ends_of_every_constant_enclose_it() -> None:
    for name in energies.names():
        sheet = energies.load(name)
        low, high = dict(sheet.at_end("low").quantities()), dict(sheet.at_end("high").quantities())
        for path, constant in sheet.quantities():
            assert low[path].value <= constant.value <= high[path].value


def test_the_ends_of_a_chip_are_those_of_its_own_process() -> None:
    for name in ("sd855", "sd835"):
        stated, low, high = energies.datasheets_of(chips.load(name))
        fresh = energies.load(stated.name)
        assert (stated, low, high) == (fresh, fresh.at_end("low"), fresh.at_end("high"))
    assert energies.datasheet_of(chips.load("sd855")) != energies.datasheet_of(chips.load("sd835"))


def test_an_unknown_process_is_refused_by_name() -> None:
    with pytest.raises(HexsimError, match="2nm"):
        energies.load("2nm")
