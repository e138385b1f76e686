"""A process that knows no user-defined layers."""

import pytest

from hexsim.udl import known


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_GIVEN", {})
