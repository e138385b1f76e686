"""Listed sections come before those of the file, and those before automatic ones."""

import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.platform import Platform
from hexsim.studies.cuts import chosen_sections
from tests.container.made import small_network, with_encodings

SD855 = Platform.load("sd855")


def test_where_sections_come_from() -> None:
    model = hexsim.compile_hta(with_encodings(small_network()), "sd855", "1-2")
    assert chosen_sections(model, SD855, None) == ((range(2),), "of the file")
    assert chosen_sections(model, SD855, "sm8150:2-3") == ((range(1, 3),), "as listed")
    for source, listed in ((model, "sd855:"), (small_network(), None)):
        sections, words = chosen_sections(source, SD855, listed)
        assert sections == (range(4),)
        assert words.startswith("automatic")
    _, words = chosen_sections(model, Platform.load("sd865"), None)
    assert words.startswith("automatic"), "the file has none for this chip"
    with pytest.raises(HexsimError, match="sections for sm8250, and the chip is sd855"):
        chosen_sections(model, SD855, "sm8250:1-2")
