"""The choice of workers: a dask cluster of the user's, or processes of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from hexsim.errors import spelled
from hexsim.studies.pool import Pool, require_libraries


@contextmanager
def workers(scheduler: str | None, count: int) -> Iterator[Pool]:
    """Yield the workers of a scheduler at an address or, without one, `count` own processes.

    Raises HexsimError if dask is missing for a scheduler, if no scheduler answers, or if workers
    have another version of hexsim.
    """
    if scheduler is None:
        from hexsim.studies.processes import processes

        with processes(count) as pool:
            yield pool
        return
    require_libraries(f"{spelled('scheduler')} needs", "distributed")
    from hexsim.studies.cluster import cluster

    with cluster(scheduler) as pool:
        yield pool
