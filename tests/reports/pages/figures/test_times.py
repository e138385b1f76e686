"""Bars have the colour of the engine that computes, and memory on chip stands on that beside it."""

import pytest

import hexsim
from hexsim.datasheets.quantity import Estimate
from hexsim.reports.pages.figures.chart import most_of
from hexsim.reports.pages.figures.costs import memory_figure
from hexsim.reports.pages.figures.network import cut_times
from hexsim.reports.pages.figures.times import engine_of
from hexsim.results.partition import FastestCut, Partition
from hexsim.runtimes import Runtime


@pytest.mark.parametrize(
    ("network", "chip", "runtime", "engine"),
    [
        ("squeezenet1_1", "sd855", "aip", "hvx"),
        ("resnet50", "sd855", "aip", "hta"),
        ("squeezenet1_1", "sd855", "dsp", "hvx"),
        ("squeezenet1_1", "sd8gen4", "htp", "htp"),
    ],
)
def test_a_case_has_the_colour_of_what_computes_it(
    network: str, chip: str, runtime: Runtime, engine: str
) -> None:
    bench = hexsim.benchmark(network, chips=chip, runtime=runtime, timing_only=True)
    assert {layer.engine for layer in bench.results[0].layers} == {engine}
    assert engine_of(bench.results[0]) == engine


def test_what_is_on_chip_stands_on_what_is_beside_it() -> None:
    bench = hexsim.benchmark("squeezenet1_1", chips="sd8gen4", runtime="htp", timing_only=True)
    memory = bench.results[0].memory
    figure = memory_figure(memory)
    assert figure.chart
    live, on_chip = figure.chart.marks
    assert live["kib"] == live["top"] == on_chip["bottom"]
    assert [text for _, text in figure.legend] == ["live activations", "on chip"]
    assert on_chip["top"] == [
        (layer.live_bytes + layer.on_chip_bytes) / 1024 for layer in memory.layers
    ]


def made(mac_share: float, best: str | None) -> Partition:
    search = None
    if best is not None:
        gain = Estimate(value=1.5, low=1.0, high=2.0)
        search = FastestCut(
            best=best, best_us=2e3, default="0-5", default_us=3e3, hvx_us=2e3, gain=gain
        )
    return Partition(
        **{"network": "n", "chip": "sd855", "stack": "s", "rules": "1.25+", "pieces": ()},
        **{"layer_share": mac_share, "mac_share": mac_share, "total_us": 3e3, "hvx_us": 2e3},
        search=search,
    )


@pytest.mark.parametrize(
    ("mac_share", "best", "cuts"),
    [
        (1.0, None, ["without the tensor engine", "this cut"]),
        (1.0, "", ["without the tensor engine", "this cut"]),
        (1.0, "0-3", ["without the tensor engine", "fastest: 0-3", "this cut"]),
        (0.0, "0-3", ["fastest: 0-3", "this cut"]),
        (0.0, "", []),
    ],
)
def test_each_cut_is_drawn_once(mac_share: float, best: str | None, cuts: list[str]) -> None:
    figures = cut_times(made(mac_share, best))
    assert [row[0] for figure in figures for row in figure.table.rows] == cuts


def test_the_sentence_on_the_longest_layers_has_short_names() -> None:
    common = "a/common/beginning/of/every/layer/of/this/network/"
    us = {f"{common}{end}": float(us) for end, us in (("first", 3), ("second", 2))}
    text = most_of(us, 10.0, "of the inference")
    assert text == "These two layers take 50% of the inference: …first, …second."
