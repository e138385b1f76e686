"""Workers of a scheduler of the user's: who answers there, and what is sent."""

import socket

import pytest

from hexsim.errors import HexsimError
from hexsim.studies.cluster import Cluster
from hexsim.studies.pool import ranges
from hexsim.studies.processes import workers_of


def _slice(shared: bytes, first: int, stop: int) -> bytes:
    return shared[first:stop]


@pytest.mark.slow
def test_what_is_shared_may_be_large_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    from distributed import Client, LocalCluster  # slow to import, in every worker that collects

    shared = bytes(range(256)) * (1 << 16)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as local,
        Client(local) as client,
    ):
        pool = Cluster(client)
        parts = dict(pool.in_parts(_slice, shared, ranges(len(shared), 1 << 22), "bytes"))
        assert (pool.workers, pool.threads) == (1, 1)
    assert b"".join(parts[part] for part in sorted(parts, key=lambda part: part.start)) == shared
    assert not [warning for warning in recwarn if "large" in str(warning.message)]


def test_what_listens_and_is_no_scheduler_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hexsim.studies.cluster._PATIENCE_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(HexsimError, match="no scheduler answers"), workers_of(None, address):
            pass


@pytest.mark.slow
def test_workers_of_another_version_or_none_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster  # slow to import, in every worker that collects

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
        with (
            pytest.raises(HexsimError, match="has no workers; start some"),
            workers_of(None, address),
        ):
            pass
        cluster.scale(1)
        cluster.wait_for_workers(1)
        monkeypatch.setattr("hexsim.studies.cluster.__version__", "0.0.9")
        monkeypatch.setattr("hexsim.studies.cluster._version", _another_version)
        message = r"has hexsim 7\.0 and this is 0\.0\.9"
        with pytest.raises(HexsimError, match=message), workers_of(None, address):
            pass


def _another_version() -> str:
    return "7.0"
