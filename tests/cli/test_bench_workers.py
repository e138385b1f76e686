"""Draws of `hexsim bench` that workers share."""

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Done

BENCH = (
    "bench --model squeezenet1_1 --chip sd855 --runtime dsp,gpu --timing-only "
    "--uncertainty joint --draws 6"
)


def test_one_process_and_two_say_and_write_the_same(
    command: Callable[[str], Done], tmp_path: Path
) -> None:
    said = {}
    for name, workers in (("alone", ""), ("two", " --workers 2")):
        done = command(f"{BENCH} --json {name}.json{workers}")
        assert done.code == 0
        said[name] = done.out
    assert said["alone"] == said["two"]
    assert "9 in 10 draws" in said["two"]
    assert (tmp_path / "alone.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_workers_without_draws_have_nothing_to_share(refused: Callable[[str], str]) -> None:
    assert "distribute draws; give --uncertainty joint too" in refused(
        "bench --chip sd835 --workers 2"
    )
    both = f"{BENCH} --workers 2 --scheduler tcp://127.0.0.1:9"
    assert "leave it out with --scheduler" in refused(both)
