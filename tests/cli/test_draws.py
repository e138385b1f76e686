"""`bench --uncertainty joint`: an interval from draws, and how sure the order of runtimes is."""

import json
from collections.abc import Callable
from pathlib import Path

from hexsim.texts.figures import span
from tests.cli.conftest import Done


def test_the_order_of_two_runtimes_is_counted(command: Callable[[str], Done]) -> None:
    line = (
        "bench --chip sd835 "
        "--model conv1x1_8to8 --runtime gpu,dsp --timing-only --uncertainty joint --draws 8 "
        "--json out.json"
    )
    done = command(line)
    assert done.code == 0, done.err
    document = json.loads(Path("out.json").read_text())
    (order,) = document["orders"]
    times = {result["runtime"]: result["total_inference_us"] for result in document["results"]}
    assert times[order["first"]] < times[order["second"]]
    assert (order["network"], order["draws"]) == ("conv1x1_8to8", 8)
    sentence = f"{order['first']} before {order['second']} in {order['share']:.0%} of draws"
    assert f"conv1x1_8to8: {sentence}" in done.out
    assert "9 in 10 draws" in done.out
    for result in document["results"]:
        low, high = result["draws"]["total_inference_us"]
        assert low < high
        assert result["draws"]["count"] == 8
        assert span(low / 1e3, high / 1e3) in done.out
    assert command(line).out == done.out


def test_without_draws_nothing_is_said_of_them(command: Callable[[str], Done]) -> None:
    done = command(
        "bench --chip sd835 --model conv1x1_8to8 --runtime gpu,dsp --timing-only --json out.json"
    )
    assert "9 in 10 draws" not in done.out
    document = json.loads(Path("out.json").read_text())
    assert document["orders"] == []
    assert document["results"][0]["draws"] is None


def test_draws_are_of_the_joint_kind(refused: Callable[[str], str]) -> None:
    for kind in ("", "--uncertainty one"):
        said = refused(f"bench --chip sd835 --model conv1x1_8to8 --timing-only --draws 8 {kind}")
        assert "--draws is for --uncertainty joint" in said


def test_joint_has_a_number_of_its_own(command: Callable[[str], Done]) -> None:
    line = "bench --chip sd835 --model conv1x1_8to8 --runtime gpu --timing-only --uncertainty joint"
    assert "95th percentile of 200 draws" in command(line).out
