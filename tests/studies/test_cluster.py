"""Work in parts: their order, and what is missing."""

import random
import socket

import pytest
from distributed import Client, LocalCluster

from hexsim.errors import HexsimError
from hexsim.studies.cluster import in_order, in_parts, ranges, require_libraries, workers


def test_parts_are_yielded_in_order_as_soon_as_they_can_be() -> None:
    parts = list(ranges(23, 4))
    assert [number for part in parts for number in part] == list(range(23))
    for seed in range(5):
        given = random.Random(seed).sample(parts, len(parts))
        taken = []
        for part, found in in_order((part, sum(part)) for part in given):
            assert found == sum(part)
            taken.append(part)
        assert taken == parts
    (first, *_) = in_order((part, None) for part in parts[:1])
    assert first == (parts[0], None)


def _slice(shared: bytes, first: int, stop: int) -> bytes:
    return shared[first:stop]


def test_what_is_shared_may_be_large_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    shared = bytes(range(256)) * (1 << 16)
    with workers(None, 1) as client:
        found = dict(in_parts(client, _slice, shared, ranges(len(shared), 1 << 22), "bytes"))
        assert isinstance(client, Client)
    assert b"".join(found[part] for part in sorted(found, key=lambda part: part.start)) == shared
    assert not [one for one in recwarn if "large" in str(one.message)]


def test_what_listens_and_is_no_scheduler_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hexsim.studies.cluster._PATIENCE_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(HexsimError, match="no scheduler answers"), workers(address, 1):
            pass


def test_workers_of_another_version_or_none_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        LocalCluster(
            n_workers=0,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
    ):
        address = cluster.scheduler_address
        with pytest.raises(HexsimError, match="has no workers; start some"), workers(address, 1):
            pass
        cluster.scale(1)
        cluster.wait_for_workers(1)
        monkeypatch.setattr("hexsim.studies.cluster.__version__", "0.0.9")
        monkeypatch.setattr("hexsim.studies.cluster._version", _another_version)
        told = r"has hexsim 7\.0 and this is 0\.0\.9"
        with pytest.raises(HexsimError, match=told), workers(address, 1):
            pass


def _another_version() -> str:
    return "7.0"


def test_what_is_missing_is_named_with_its_remedy() -> None:
    require_libraries("workers need", "distributed")
    with pytest.raises(
        HexsimError, match=r"need distributed and gone \(gone is missing\); .*sweep"
    ):
        require_libraries("workers need", "distributed", "gone")
