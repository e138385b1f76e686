"""What follows from an architecture version."""

import pytest

from hexsim.datasheets import chips
from hexsim.datasheets.architecture import Arch, takes_signed_weights, version


@pytest.mark.parametrize(
    ("arch", "number", "signed"),
    [("v60", 60, False), ("v62", 62, False), ("v65", 65, True), ("v66", 66, True)],
)
def test_versions(arch: Arch, number: int, signed: bool) -> None:
    assert version(arch) == number
    assert takes_signed_weights(number) is signed


@pytest.mark.parametrize("name", ["sd820", "sd835", "sd845", "sd855", "sd865"])
def test_chips_follow_their_architecture(name: str) -> None:
    dsp = chips.load(name).dsp
    assert dsp.signed_weights is takes_signed_weights(version(dsp.arch))
