from __future__ import annotations

from dataclasses import replace

from hexsim.reports.benchmark.background import background_tables, client_table, slowdown_table
from hexsim.studies.inferences import interference_of
from hexsim.studies.interference import Interference
from hexsim.timing.results import ClientTiming, InferenceTiming, Overhead, Result, Timeline


def inference(start_ms: int, **parts_ms: int) -> InferenceTiming:
    now, overheads = start_ms * 10**9, []
    for name, duration_ms in parts_ms.items():
        overheads.append(Overhead(name, now, duration_ms * 10**9))
        now += duration_ms * 10**9
    return InferenceTiming(0, start_ms * 10**9, now, (), tuple(overheads))


def result(*inferences: InferenceTiming, clients: tuple[ClientTiming, ...] = ()) -> Result:
    return Result(inferences, Timeline((), inferences[-1].end_ps), {}, (), clients)


TICK = ClientTiming("load tick", "scalar", 10 * 10**9, 4 * 10**9, (10**9, 3 * 10**9), 0)
LATE = replace(TICK, latencies_ps=(5 * 10**9,), skipped=1)
STUDY = interference_of(
    Interference(
        ("load",),
        result(inference(0, conversion=10, dispatch=20)),
        result(
            inference(0, conversion=10, dispatch=20),
            inference(30, context_wait=6, conversion=10, dispatch=24),
            clients=(LATE,),
        ),
        (TICK,),
    )
)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_client_is_shown_without_and_with_the_network() -> None:
    assert lines(client_table(STUDY))[-1] == (
        "load tick scalar 10 2 0 -> 1 0 -> 1 2.00 -> 5.00 3.00 -> 5.00"
    )


def test_parts_that_change_are_listed_and_the_others_counted() -> None:
    assert lines(slowdown_table(STUDY))[2:] == [
        "(dispatch) 20000 22000 1.10",
        "(context_wait) 0 3000 new",
        "total inference 30000 35000 1.17",
        "1 parts change by less than 0.5%",
    ]


def test_cases_without_clients_say_nothing() -> None:
    assert background_tables([]) == ""
