"""What follows from an architecture version."""

import pytest

from hexsim.datasheets.architecture import Arch, version


@pytest.mark.parametrize(("arch", "number"), [("v60", 60), ("v62", 62), ("v65", 65), ("v66", 66)])
def test_versions(arch: Arch, number: int) -> None:
    assert version(arch) == number
