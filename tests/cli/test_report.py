"""`--html` writes pages whose figures are those of the JSON files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

from hexsim import dlc
from hexsim.reports.colours import tint
from hexsim.reports.inference import memory_parts
from hexsim.results.costs import Footprint
from tests.accuracy import culprits
from tests.cli.conftest import Done
from tests.reports.pages.conftest import data_of
from tests.reports.pages.figures_of_page import columns, figure

Command = Callable[[str], Done]


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> None:
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))


def both(command: Command, tmp_path: Path, line: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a command writes as JSON, and the data of its page."""
    done = command(f"{line} --json out.json --html page.html")
    assert (done.code, done.err) == (0, "")
    document = json.loads((tmp_path / "out.json").read_text())
    return document, data_of((tmp_path / "page.html").read_text())


def longest(layers: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """The layers by the sum of their parts, the largest first."""
    return sorted(layers, key=lambda layer: -sum(layer[key].values()))


def assert_the_case(page: dict[str, Any], case: dict[str, Any], prefix: str = "") -> None:
    """Bars and rows of layers and of memory are those of the JSON file."""
    times = figure(page, f"{prefix}Layers by time")
    (bars,) = columns(times)
    parts = [
        (layer["name"], bound, us)
        for layer in longest(case["layers"], "parts_us")
        for bound, us in layer["parts_us"].items()
        if us > 0
    ]
    assert list(zip(bars["name"], bars["what"], bars["amount"], strict=True)) == parts
    ends = dict(zip(bars["name"], bars["right"], strict=True))
    us = {layer["name"]: layer["us"] for layer in case["layers"] if layer["name"] in ends}
    assert ends == pytest.approx(us)
    rows = {row[0]: row[3] for row in times["table"]["rows"]}
    others = {f"({part['name']})": part["us"] for part in case["overheads"]}
    assert rows == {layer["name"]: layer["us"] for layer in case["layers"]} | others
    assert sum(rows.values()) == pytest.approx(case["total_inference_us"])
    memory = figure(page, f"{prefix}Memory")
    assert memory["text"].endswith(f": {memory_parts(convert(case['memory'], Footprint))}.")
    (live,) = columns(memory)
    assert [round(kib * 1024) for kib in live["top"]] == [
        layer["live_bytes"] for layer in case["memory"]["layers"]
    ]


def assert_the_energy(page: dict[str, Any], case: dict[str, Any], prefix: str = "") -> None:
    """Parts, intervals and rows of the energy of layers are those of the JSON file."""
    drawn = figure(page, f"{prefix}Energy")
    bars, ends = columns(drawn)
    layers = longest(case["layers"], "parts_mj")
    parts = [
        (layer["name"], part, mj)
        for layer in layers
        for part, mj in layer["parts_mj"].items()
        if mj > 0
    ]
    assert parts
    assert list(zip(bars["name"], bars["what"], bars["amount"], strict=True)) == parts
    assert ends["x0"] == [layer["mj_low"] for layer in layers]
    assert ends["x1"] == [layer["mj_high"] for layer in layers]
    for layer in layers:
        assert sum(layer["parts_mj"].values()) == pytest.approx(layer["mj"])
    rows = drawn["table"]["rows"]
    assert sum(row[2] for row in rows) == pytest.approx(case["energy"]["mj"])
    named = {f"({overhead['name']})" for overhead in case["overheads"]}
    assert {row[0] for row in rows} == {layer["name"] for layer in layers} | named


def assert_the_traffic(page: dict[str, Any], case: dict[str, Any], prefix: str = "") -> None:
    """Bars of bytes are those of the JSON file, level by level."""
    (bars,) = columns(figure(page, f"{prefix}Memory traffic"))
    drawn = zip(bars["name"], bars["what"], bars["amount"], strict=True)
    levels = {
        "ddr_read_bytes": "DDR, read",
        "ddr_write_bytes": "DDR, written",
        "l2_bytes": "L2",
        "vtcm_bytes": "VTCM",
    }
    moved = [
        (layer["name"], level, layer[key])
        for layer in sorted(case["layers"], key=lambda layer: -sum(map(layer.get, levels)))
        for key, level in levels.items()
        if layer[key]
    ]
    assert moved
    assert [(name, level, round(kib * 1024)) for name, level, kib in drawn] == moved
    lengths = [right - left for right, left in zip(bars["right"], bars["left"], strict=True)]
    assert lengths == pytest.approx(bars["amount"])


def test_profile(command: Command, tmp_path: Path) -> None:
    line = "profile --chip sd835 q.dlc --runtime dsp --uncertainty --trace trace.json"
    document, page = both(command, tmp_path, line)
    (case,) = document["results"]
    assert_the_case(page, case)
    assert_the_energy(page, case)
    assert_the_traffic(page, case)
    swept = case["uncertainty"]["constants"]
    table = figure(page, "Interval and constants")["table"]
    named = [
        (constant["constant"], constant["stated_by"], constant["source"]) for constant in swept
    ]
    assert [(row[0], row[1], row[-1]) for row in table["rows"]] == named
    assert page["command"] == f"hexsim {line} --json out.json --html page.html"
    trace = json.loads((tmp_path / "trace.json").read_text())
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    (drawn,) = columns(figure(page, "Timeline"))
    assert drawn["name"] == [event["name"] for event in spans]
    assert drawn["left"] == pytest.approx([event["ts"] for event in spans], abs=1e-3)
    ends = [event["ts"] + event["dur"] for event in spans]
    assert drawn["right"] == pytest.approx(ends, abs=2e-3)


def test_the_roofline_is_that_of_the_document(command: Command, tmp_path: Path) -> None:
    assert command("profile --chip sd835 q.dlc --json roof.json --html page.html").code == 0
    (result,) = json.loads((tmp_path / "roof.json").read_text())["results"]
    points = result["roofline"]["points"]
    drawn = figure(data_of((tmp_path / "page.html").read_text()), "Roofline")
    (marks,) = (column for column in columns(drawn) if column["kind"] == "points")
    assert marks["name"] == [point["name"] for point in points]
    assert marks["y"] == [point["macs_per_s"] / 1e9 for point in points]
    for place, point in zip(marks["x"], points, strict=True):
        of_ddr = point["bound"] in ("ddr", "latency") or point["roof"] == "DDR"
        assert place == point["ddr_macs_per_byte" if of_ddr else "l2_macs_per_byte"]


def test_bench(command: Command, tmp_path: Path) -> None:
    document, page = both(
        command, tmp_path, "bench --chip sd835 --model q.dlc --runtime dsp,fxp_cpu"
    )
    times, *_ = columns(figure(page, "Runtimes"))
    assert times["right"] == sorted(
        case["total_inference_us"] / 1e3 for case in document["results"]
    )
    for case in document["results"]:
        assert_the_case(page, case, f"{case['runtime']}: ")


def test_every_layer_stands_beside_itself_on_the_other_chips(
    command: Command, tmp_path: Path
) -> None:
    line = "bench --model q.dlc --chip sd835,sd855 --runtime dsp,cpu --timing-only"
    assert command(f"{line} --json out.json --html page.html").code == 0
    cases = json.loads((tmp_path / "out.json").read_text())["results"]
    drawn = figure(data_of((tmp_path / "page.html").read_text()), "Layers side by side")
    header, rows = drawn["table"]["header"], drawn["table"]["rows"]
    assert len(rows) == 1 + len(cases[0]["layers"])
    for case in cases:
        place = f"{case['runtime']} of {case['chip']}"
        shown = {row[0]: row[header.index(f"{place}, us")] for row in rows[1:]}
        assert shown == {layer["name"]: layer["us"] for layer in case["layers"]}
        bounds = {row[0]: row[header.index(f"{place}: bound")] for row in rows[1:]}
        for layer in case["layers"]:
            assert bounds[layer["name"]] == f"{layer['bound']} on {layer['engine'].upper()}"
    (bars,) = columns(drawn)
    fastest = {
        chip: min((c for c in cases if c["chip"] == chip), key=lambda c: c["total_inference_us"])
        for chip in ("sd835", "sd855")
    }
    assert set(bars["place"]) == {f"{c['runtime']} of {chip}" for chip, c in fastest.items()}
    for chip, case in fastest.items():
        place = f"{case['runtime']} of {chip}"
        mine = [n for n, each in enumerate(bars["place"]) if each == place]
        us = {layer["name"]: layer["us"] for layer in case["layers"]}
        assert all(bars["right"][n] == us[bars["name"][n]] for n in mine)
        shares = drawn["choices"]["share of the inference in %"]["right"]
        total = case["total_inference_us"]
        expected = [100 * bars["right"][n] / total for n in mine]
        assert [shares[n] for n in mine] == pytest.approx(expected)


def test_two_results_are_a_page(command: Command, tmp_path: Path) -> None:
    for stack in ("1.23", "1.30"):
        line = f"bench --model q.dlc --chip sd835 --stack snpe-{stack} --runtime dsp --timing-only"
        assert command(f"{line} --json {stack}.json").code == 0
    assert command("compare 1.23.json 1.30.json --json out.json --html page.html").code == 0
    (case,) = json.loads((tmp_path / "out.json").read_text())["cases"]
    page = data_of((tmp_path / "page.html").read_text())
    layers = figure(page, f"{case['network']} on dsp of sd835: Layers")
    assert {row[0]: (row[2], row[3]) for row in layers["table"]["rows"]} == {
        layer["name"]: (layer["before"], layer["after"]) for layer in case["layers"]
    }
    figures = figure(page, f"{case['network']} on dsp of sd835: Figures")["table"]["rows"]
    main = case["figures"][0]
    assert figures[0][1] == "ms"
    assert figures[0][2:4] == pytest.approx([main["before"] / 1e3, main["after"] / 1e3])
    assert "snpe-1.23 -> snpe-1.30" in page["figures"][0]["text"]


def test_validate(command: Command, tmp_path: Path) -> None:
    document, page = both(command, tmp_path, "validate --chip sd835 q.dlc --runtime dsp")
    _, drawn = columns(figure(page, "Error by layer"))
    rows = [row for row in document["layers"] if row["sqnr_db"] is not None]
    assert drawn["y"] == [row["sqnr_db"] for row in rows]
    assert drawn["tensor"] == [row["tensor"] for row in rows]
    ranges, *_ = columns(figure(page, "Ranges and headroom"))
    coded = [row for row in document["layers"] if row["encoding"]]
    assert ranges["min"] == [row["encoding"]["min"] for row in coded]
    assert ranges["high"] == [row["high"] for row in coded]


def test_values_and_codes_are_those_of_the_json(command: Command, tmp_path: Path) -> None:
    document, page = both(command, tmp_path, "validate --chip sd835 q.dlc --runtime dsp")
    drawn = figure(page, "Values and codes")
    counted = document["distributions"]
    lowest = sorted(row["sqnr_db"] for row in document["layers"])[:8]
    assert [tensor["sqnr_db"] for tensor in counted] == lowest
    assert columns(drawn)[0]["number"] == next(iter(drawn["choices"].values()))["number"]
    for tensor, (name, marks) in zip(counted, drawn["choices"].items(), strict=True):
        rows = [dict(zip(marks, row, strict=True)) for row in zip(*marks.values(), strict=True)]
        assert name.startswith(f"{tensor['tensor']}: {tensor['sqnr_db']:.1f} dB, ")
        assert (f"{tensor['clipped']:.2%} clipped" if tensor["clipped"] else "none clipped") in name
        width, first, encoding = tensor["bin_width"], tensor["first_bin"], tensor["encoding"]
        bins = [row for row in rows if row["what"] in ("values", "clipped")]
        assert [(row["left"], row["right"], row["number"], row["top"]) for row in bins] == [
            (first + width * at, first + width * at + width, count, count)
            for at, count in enumerate(tensor["counts"])
            if count
        ]
        half = encoding["delta"] / 2
        beyond = (encoding["min"] - half, encoding["max"] + half)
        for row in bins:
            outside = row["right"] < beyond[0] or row["left"] > beyond[1]
            assert row["what"] == ("clipped" if outside else "values")
        ends = [row["left"] for row in rows if row["edge"]]
        assert ends == [encoding["min"], encoding["max"]]
        codes = [row for row in rows if row["what"] == "code"]
        assert len(codes) == 128
        for row in codes:
            middle = (row["left"] + row["right"]) / 2
            assert middle == pytest.approx(encoding["delta"] * (row["number"] + encoding["offset"]))
            assert row["right"] - row["left"] == pytest.approx(encoding["delta"])
    shown_rows = [(row[1], row[3], row[6], row[8]) for row in drawn["table"]["rows"]]
    assert shown_rows == [
        (tensor["tensor"], sum(tensor["counts"]), tensor["encoding"]["delta"], tensor["clipped"])
        for tensor in counted
    ]


def test_partition(command: Command, tmp_path: Path) -> None:
    document, page = both(command, tmp_path, "partition alexnet --chip sd855 --runtime aip")
    rows = figure(page, "Subnets")["table"]["rows"]
    assert [row[1] for row in rows] == [piece["engine"] for piece in document["pieces"]]
    cuts = figure(page, "Cuts")["table"]["rows"]
    assert [(row[1], row[2]) for row in cuts] == [
        (cut["after"], cut["reason"]) for cut in document["cuts"]
    ]
    times = dict(figure(page, "Times")["table"]["rows"])
    assert times["this cut"] == document["total_us"]
    assert times["without the tensor engine"] == document["hvx_us"]
    assert list(times.values()) == sorted(times.values())
    how = "faster" if document["total_us"] < document["hvx_us"] else "slower"
    assert f" ms, {how} than the " in page["lead"][0]
    assert "<svg" in (tmp_path / "page.html").read_text()


def test_a_layer_has_the_colour_of_the_engine_of_its_job(command: Command, tmp_path: Path) -> None:
    line = "throughput --chip sd835 q.dlc q.dlc --runtime dsp,cpu --inferences 2"
    drawn = figure(both(command, tmp_path, line)[1], "Timeline")
    engines = {text: colour for colour, text in drawn["legend"] if text.startswith("layer on")}
    assert set(engines) == {"layer on HVX", "layer on CPU"}
    tints = {
        text: {tint(colour, share) for share in (0.9, 0.6)} for text, colour in engines.items()
    }
    (spans,) = columns(drawn)
    rows = [row[0] for row in drawn["table"]["rows"]]
    shown = {rows[row]: set[str]() for row in spans["row"]}
    for row, name, colour in zip(spans["row"], spans["name"], spans["colour"], strict=True):
        if name == "c0":
            shown[rows[row]].add(colour)
    assert shown["job 0 inference"] <= tints["layer on HVX"]
    assert shown["job 1 inference"] <= tints["layer on CPU"]
    assert shown["job 1 inference"]
    assert shown["DSP hardware thread 0"] <= tints["layer on HVX"]


def test_throughput(command: Command, tmp_path: Path) -> None:
    line = "throughput --chip sd835 q.dlc --instances 2 --inferences 4"
    document, page = both(command, tmp_path, line)
    drawn = columns(figure(page, "Latencies"))
    assert [series["y"] for series in drawn] == [
        [us / 1e3 for us in thread["latencies_us"]] for thread in document["threads"]
    ]
    (use,) = columns(figure(page, "Utilisation"))
    used = {name: share for name, share in document["utilisation"].items() if share}
    assert dict(zip(use["name"], use["amount"], strict=True)) == used
    assert page["lead"][0].startswith("2 threads together reach ")


@pytest.mark.slow
def test_report_has_all_of_a_model(command: Command, tmp_path: Path) -> None:
    done = command("overview q.dlc --chip sd855 --runtime dsp,aip,gpu --html page.html")
    assert (done.code, done.err) == (0, "")
    page = data_of((tmp_path / "page.html").read_text())
    for name, value in page["summary"]:
        if name.endswith("Total inference"):
            assert f"latency        {value.replace(' (', '; ').rstrip(')')} ms with" in done.out
    titles = {drawing["title"] for drawing in page["figures"]}
    parts = {"Layers by time", "Timeline", "Memory", "Interval and constants", "Error by layer"}
    parts.add("Values and codes")
    assert {"Runtimes", "Weights", "aip: Subnets"} <= titles
    assert {f"{runtime}: {part}" for runtime in ("dsp", "aip") for part in parts} <= titles
    assert "gpu: Error by layer" not in titles
    weights = figure(page, "Weights")
    assert {row[0] for row in weights["table"]["rows"]} == set(weights["choices"])


def test_report_of_times_alone(command: Command, tmp_path: Path) -> None:
    line = "overview --chip sd835 q.dlc --timing-only --no-uncertainty --html page.html"
    assert command(line).code == 0
    assert command("profile --chip sd835 q.dlc --json out.json").code == 0
    page = data_of((tmp_path / "page.html").read_text())
    (case,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert_the_case(page, case)
    titles = [drawing["title"] for drawing in page["figures"]]
    assert not {"Interval and constants", "Error by layer"} & set(titles)


def test_a_runtime_that_refuses(refused: Callable[[str], str]) -> None:
    assert "has no aip runtime" in refused("overview q.dlc --chip sd835 --runtime aip")
