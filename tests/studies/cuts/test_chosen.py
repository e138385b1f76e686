"""Listed sections come before those of the file, and those before automatic ones."""

import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.studies.cuts import chosen_sections
from tests.deployed import deployed
from tests.dlc.made import small_network, with_encodings


def test_where_sections_come_from() -> None:
    model = hexsim.compile_hta(with_encodings(small_network()), "sd855", "1-2")
    coded = deployed(model, "aip", "sd855")
    assert chosen_sections(coded, None) == ((range(2),), "of the file")
    assert chosen_sections(coded, "sm8150:2-3") == ((range(1, 3),), "as listed")
    floats = deployed(small_network(), "aip", "sd855")
    for deployment, listed in ((coded, "sd855:"), (floats, None)):
        sections, words = chosen_sections(deployment, listed)
        assert sections == (range(4),)
        assert words.startswith("automatic")
    _, words = chosen_sections(deployed(model, "aip", "sd865"), None)
    assert words.startswith("automatic"), "the file has none for this chip"
    with pytest.raises(HexsimError, match="sections for sm8250, and the chip is sd855"):
        chosen_sections(coded, "sm8250:1-2")
