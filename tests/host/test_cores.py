from __future__ import annotations

from hexsim.host.cpu_and_gpu import HostCores
from hexsim.timing.simtime import Environment


def ends(cores: float, *threads: int) -> list[int]:
    """When jobs of 1200 ps that begin together end."""
    env, times = Environment(), []
    host = HostCores(env, cores)
    for count in threads:
        host.run(1200, count).callbacks.append(lambda _: times.append(env.now))
    env.run()
    return times


def test_a_thread_with_a_core_of_its_own_takes_as_long_as_it_takes() -> None:
    assert ends(4, 1) == [1200]
    assert ends(4, 1, 1, 1, 1) == [1200] * 4
    assert ends(float("inf"), *[1] * 9) == [1200] * 9


def test_threads_without_a_core_each_share_what_there_is() -> None:
    assert ends(4, *[1] * 8) == [2400] * 8


def test_a_job_for_all_cores_leaves_a_single_thread_its_own() -> None:
    # Three cores for the wide job until the narrow one has ended, then all four.
    assert ends(4, 4, 1) == [1200, 1500]
