from __future__ import annotations

from pathlib import Path

import pytest

from hexsim.datasheets import background
from hexsim.errors import HexsimError

CLIENT = """
[[client]]
name = "tick"
period_us = 1000
priority = 64
unit = "scalar"
packets = 100
"""


def written(path: Path, clients: str) -> Path:
    path = path / "load.toml"
    path.write_text(f'name = "mine"\ntitle = "A load"\n{clients}')
    return path


def test_the_loads_that_ship() -> None:
    assert background.names() == ("audio", "camera", "sensor-hub")
    for name in background.names():
        load = background.load(name)
        assert load.name == name
        units = {client.unit for client in load.clients}
        assert ("hvx" in units) == (name != "audio")


def test_what_a_client_need_not_state(tmp_path: Path) -> None:
    (client,) = background.load(written(tmp_path, CLIENT)).clients
    assert (client.threads, client.interrupts, client.lock) == (1, 0, "wait")
    assert client.deadline_us is None


@pytest.mark.parametrize(
    ("clients", "sentence"),
    [
        ("", "key 'client' is missing; expected a list of tables"),
        ("client = []", "key 'client' is .*at least 1 item"),
        (CLIENT.replace("period_us", "period"), r"'client\.0\.period' is not known.*period_us"),
        (CLIENT.replace("packets = 100", ""), r"'client\.0\.packets' is missing.*whole number"),
        (CLIENT.replace("1000", "1"), r"'client\.0\.period_us' is 1.*greater than or equal to 10"),
        (CLIENT.replace("1000", '"1000"'), r"'client\.0\.period_us' is '1000'.*a number"),
        (CLIENT.replace("1000", "nan"), r"'client\[0\]\.period_us' is NaN"),
        (CLIENT.replace("64", "0"), r"'client\.0\.priority' is 0.*greater than or equal to 1"),
        (CLIENT.replace("64", "256"), r"'client\.0\.priority' is 256.*less than or equal to 255"),
        (CLIENT.replace("scalar", "gpu"), r"'client\.0\.unit' is 'gpu'.*'hvx' or 'scalar'"),
        (CLIENT + 'lock = "try"\n', r"'client\.0' is wrong; expected no lock on a scalar"),
        (CLIENT + "interrupts = 101\n", r"'client\.0' is wrong; .* its 101 interrupts in 10 us"),
        ('client = "x"', "key 'client' is 'x'; expected a list of tables"),
        (CLIENT.replace("[[client]]", "[client]"), "key 'client' is .*; expected a list of tables"),
        (CLIENT + CLIENT, r"'client' is .*expected clients of different names, not 'tick' twice"),
        (CLIENT + CLIENT.replace("64", "-1"), r"'client\.1\.priority' is -1"),
    ],
)
def test_a_mistake_is_reported_with_file_and_key(
    tmp_path: Path, clients: str, sentence: str
) -> None:
    path = written(tmp_path, clients)
    with pytest.raises(HexsimError, match=sentence) as caught:
        background.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(HexsimError, match="unknown background load 'camra'; did you mean camera"):
        background.load("camra")
