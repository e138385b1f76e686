"""`hexsim compare` says what changed between two results, and fails builds that got slower."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hexsim import __version__, dlc
from hexsim.quantization.model import Model
from hexsim.texts.figures import percent
from tests.cli.conftest import Done
from tests.dlc.made import small_network
from tests.llm.tiny_decoder import CONFIG
from tests.reports.pages.conftest import data_of

Command = Callable[[str], Done]


@pytest.fixture(autouse=True)
def files(command: Command, tmp_path: Path) -> None:
    """before.json and, with the vector unit of another chip, after.json."""
    dlc.write(tmp_path / "m.dlc", Model(small_network()))
    for chip, name in (("sd855", "before"), ("sd835", "after")):
        line = f"bench --model m.dlc --chip {chip} --runtime dsp,cpu --timing-only"
        assert command(f"{line} --json {name}.json").code == 0


def read(name: str) -> Any:
    return json.loads(Path(name).read_text())


def changed(name: str, change: Callable[[Any], None]) -> None:
    """Write changed.json, which is file `name` with a change."""
    document = read(name)
    change(document)
    Path("changed.json").write_text(json.dumps(document))


def test_equal_files_have_no_change(command: Command) -> None:
    done = command("compare before.json before.json --fail-above 0% --json c.json")
    assert done.code == 0
    assert done.out.count("No layer changed.") == 2
    for case in read("c.json")["cases"]:
        assert all(
            change["before"] == change["after"] for change in (*case["figures"], *case["layers"])
        )


def test_figures_are_those_of_the_files(command: Command) -> None:
    done = command("compare before.json after.json --json c.json --csv c.csv")
    assert done.code == 0
    assert " of sd855 -> dsp of sd835: " in done.out
    before, after = (read(name)["results"] for name in ("before.json", "after.json"))
    cases = read("c.json")["cases"]
    assert [(case["network"], case["place"]) for case in cases] == [
        (result["network"], f"{result['runtime']} of sd855 -> {result['runtime']} of sd835")
        for result in before
    ]
    for case, old, other in zip(cases, before, after, strict=True):
        figures = {figure["name"]: figure for figure in case["figures"]}
        assert figures["total inference"]["before"] == old["total_inference_us"]
        assert figures["total inference"]["after"] == other["total_inference_us"]
        assert figures["peak memory"]["after"] == other["memory"]["peak_bytes"]
        assert figures["energy"]["before"] == old["energy"]["mj"]
        assert figures["SQNR"]["before"] is None
        assert [layer["before"] for layer in case["layers"]] == [
            layer["us"] for layer in old["layers"]
        ]
        longer = other["total_inference_us"] / old["total_inference_us"] - 1
        assert percent(longer, "+") in done.out
    assert len(Path("c.csv").read_text().splitlines()) == 1 + sum(
        len(case["figures"]) + len(case["layers"]) for case in cases
    )


def test_what_was_asked_of_the_platform_is_a_condition(command: Command) -> None:
    def asked(document: Any) -> None:
        for case in document["results"]:
            case |= {"vtcm_mb": 2.0, "anchor": "resnet50=1.2", "ideal_cpu": True}

    changed("before.json", asked)
    done = command("compare before.json changed.json")
    assert done.code == 0
    for condition in (
        "vtcm_mb: all before, 2 after",
        "anchor: none before, resnet50=1.2 after",
        "ideal_cpu: no before, yes after",
    ):
        assert condition in done.out


def test_language_models_are_compared(command: Command) -> None:
    Path("config.json").write_text(json.dumps(CONFIG))
    for bits, name in ((8, "wide"), (4, "narrow")):
        line = f"llm config.json --context 512 --prompt 100 --generate 9 --weights w{bits}"
        assert command(f"{line} --json {name}.json").code == 0
    done = command("compare wide.json narrow.json --json c.json")
    assert "weights: w8 before, w4 after" in done.out
    (case,) = read("c.json")["cases"]
    assert [condition["name"] for condition in case["conditions"]] == ["weights"]
    figures = {figure["name"]: figure for figure in case["figures"]}
    for end, name in (("before", "wide"), ("after", "narrow")):
        assert figures["tokens per second"][end] == read(f"{name}.json")["tokens_per_second"]
        assert figures["first token"][end] == read(f"{name}.json")["first_token_ms"]["100"]
        total = sum(layer[end] for layer in case["layers"] if layer["name"].startswith("token: "))
        assert total == pytest.approx(figures["time of a token"][end])
    changed("wide.json", lambda document: document["token"].update(ms=2 * document["token"]["ms"]))
    assert command("compare wide.json changed.json --fail-above 1%").code == 1


def test_any_result_is_compared_by_what_it_declares(command: Command) -> None:
    """All numbers with units of a document, and the rows that it lists."""
    for count in (1, 2):
        line = f"throughput m.dlc --chip sd855 --instances {count} --inferences 3"
        assert command(f"{line} --json t{count}.json").code == 0
    done = command("compare t1.json t2.json --json c.json")
    assert done.code == 0
    (case,) = read("c.json")["cases"]
    figures = {figure["name"]: figure for figure in case["figures"]}
    for end, name in (("before", "t1.json"), ("after", "t2.json")):
        total = read(name)["total"]
        assert figures["total: elapsed"][end] == total["elapsed_us"]
        assert figures["total: latency: median"][end] == total["latency_us"]["median"]
        assert (
            figures["utilisation: hvx contexts"][end] == read(name)["utilisation"]["hvx contexts"]
        )
    assert any(layer["name"].startswith("1: ") for layer in case["layers"])
    both = command("compare t1.json before.json")
    assert (both.code, "Nothing is in both." in both.out) == (0, True)


@pytest.mark.parametrize(("allowed", "code"), [("9%", 1), ("11%", 0), ("9", 1)])
def test_what_got_longer_fails_the_build_and_its_files_are_there(
    command: Command, allowed: str, code: int
) -> None:
    def longer(document: Any) -> None:
        document["results"][0]["total_inference_us"] *= 1.1

    changed("before.json", longer)
    done = command(f"compare before.json changed.json --fail-above {allowed} --json c.json")
    assert (done.code, done.err) == (code, "")
    assert ("got longer by 10.0%" in done.out) == bool(code)
    assert read("c.json")["cases"]
    assert command(f"compare changed.json before.json --fail-above {allowed}").code == 0


def test_what_only_one_has_is_reported(command: Command) -> None:
    def without(document: Any) -> None:
        del document["results"][0]
        document["results"][0]["layers"][0]["name"] = "renamed"
        document["hexsim_version"] = "0.0.1"

    changed("before.json", without)
    lines = command("compare before.json changed.json").out.splitlines()
    first = read("before.json")["results"][0]
    assert f"hexsim {__version__} before, 0.0.1 after" in lines
    assert lines[-1] == f"only before: {first['network']} on {first['runtime']} of {first['chip']}"
    assert any(line.startswith("renamed") and line.endswith("new") for line in lines)
    assert any(line.endswith("gone") for line in lines)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare gone.json before.json", "gone.json"),
        ("compare m.dlc before.json", "m.dlc"),
        ("compare before.json before.json --fail-above much", "is not a percentage"),
        ("compare before.json before.json --fail-above -5%", "is not a percentage"),
        ("compare before.json before.json --fail-above nan", "is not a percentage"),
        ("compare before.json empty.json --fail-above 5%", "nothing in common"),
        ("compare before.json other.json", "there is no key 'hexsim_version'"),
        ("compare before.json list.json", "list.json: there is no key 'hexsim_version'"),
        ("compare before.json unlike.json", "unlike.json: there is no key"),
        (
            "compare before.json negative.json",
            "is -1 us; expected 0 or more",
        ),
        ("compare before.json after.json --json before.json", "would overwrite an input"),
    ],
)
def test_bad_input(refused: Callable[[str], str], line: str, said: str) -> None:
    document = read("before.json")
    Path("empty.json").write_text(json.dumps({**document, "results": []}))
    Path("other.json").write_text("{}")
    Path("list.json").write_text("[1, 2]")
    Path("unlike.json").write_text('{"hexsim_version": "1", "bench": []}')
    document["results"][0]["total_inference_us"] = -1
    Path("negative.json").write_text(json.dumps(document))
    assert said in refused(line)


def test_the_page_of_three_results_names_both_places_of_each_case(command: Command) -> None:
    done = command("compare before.json after.json before.json --html c.html")
    assert done.code == 0
    page = Path("c.html").read_text()
    assert "3 results compared" in page
    titles = {figure["title"] for figure in data_of(page)["figures"]}
    first = read("before.json")["results"][0]
    assert f"{first['network']} on dsp of sd855 -> dsp of sd835: Figures" in titles
