"""The line of a profile about measured layers.

The profile of an inference on a terminal: where a layer ran is told before its counts.
"""

from __future__ import annotations

import csv
import dataclasses
import io

from msgspec.structs import replace

from hexsim.datasheets.measurements import LayerFactor, layer_factors
from hexsim.reports.inference import (
    background_tables,
    client_table,
    measured_layers,
    profile_csv,
    profile_table,
    slowdown_table,
)
from hexsim.reports.text import page, short_names
from hexsim.studies.inferences import (
    energy_use,
    interference_of,
    times_of,
)
from hexsim.timing.results import ClientTiming, InferenceTiming, Overhead, Result, Timeline
from tests.charts import LAYERS, case
from tests.charts import case as a_case
from tests.deployed import deployed
from tests.small_networks import ERF, Opaque, Sketch
from tests.timing.test_results import LAYER

FACTORS = (
    LayerFactor("dsp", "convolutional", 32, 1.13),
    LayerFactor("dsp", "pooling", 3, 1.49),
    LayerFactor("cpu", "convolutional", 32, 1.62),
)


def test_only_classes_of_the_network_on_its_engine_are_named() -> None:
    convolution = dataclasses.replace(LAYER, engine="hvx", layer_class="convolutional")
    softmax = dataclasses.replace(LAYER, engine="hvx", layer_class="softmax")
    assert measured_layers([convolution, softmax], FACTORS) == [
        "median factor between measured and simulated layers of hvx: convolutional 1.13 "
        "(32 layers); sd865, snpe-1.63"
    ]
    assert measured_layers([softmax], FACTORS) == []
    assert measured_layers([dataclasses.replace(convolution, engine="hta")], FACTORS) == []


def test_engines_have_a_line_each() -> None:
    layers = [
        dataclasses.replace(LAYER, engine=engine, layer_class="convolutional")
        for engine in ("cpu", "hvx")
    ]
    assert [line.split(" of ")[1][:3] for line in measured_layers(layers, FACTORS)] == [
        "hvx",
        "cpu",
    ]


def test_the_factors_of_the_package_are_factors() -> None:
    assert {factor.runtime for factor in layer_factors()} == {"dsp", "cpu", "gpu"}
    assert all(factor.factor >= 1 and factor.layers > 0 for factor in layer_factors())


def inference(start_ms: int, **parts_ms: int) -> InferenceTiming:
    now, overheads = start_ms * 10**9, []
    for name, duration_ms in parts_ms.items():
        overheads.append(Overhead(name, now, duration_ms * 10**9))
        now += duration_ms * 10**9
    return InferenceTiming(0, start_ms * 10**9, now, (), tuple(overheads))


def result(*inferences: InferenceTiming, clients: tuple[ClientTiming, ...] = ()) -> Result:
    return Result(inferences, Timeline((), inferences[-1].end_ps), {}, (), clients)


TICK = ClientTiming("load tick", "scalar", 10 * 10**9, 4 * 10**9, (10**9, 3 * 10**9), 0)
LATE = dataclasses.replace(TICK, latencies_ps=(5 * 10**9,), skipped=1)
STUDY = interference_of(
    ("load",),
    result(inference(0, conversion=10, dispatch=20)),
    result(
        inference(0, conversion=10, dispatch=20),
        inference(30, context_wait=6, conversion=10, dispatch=24),
        clients=(LATE,),
    ),
    (TICK,),
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


def test_a_row_per_layer_with_bytes_by_level_and_divided_time() -> None:
    profiled = case(*LAYERS)
    rows = list(csv.DictReader(io.StringIO(profile_csv(profiled))))
    assert [row["name"] for row in rows] == ["dense", "thin", "wide", "pool"]
    thin = rows[1]
    assert (thin["ddr_read_bytes"], thin["ddr_write_bytes"]) == ("8000", "0")
    assert (thin["l2_bytes"], thin["vtcm_bytes"]) == ("1000", "0")
    assert (thin["weight_bytes"], thin["live_bytes"]) == ("1024", "2048")
    assert (thin["bound"], thin["bound_share"]) == ("latency", "1.0")
    assert (thin["latency_us"], thin["compute_us"], thin["overhead_us"]) == ("1.0", "0.0", "0.0")


def test_no_layers_are_a_header() -> None:
    profiled = case()
    assert profile_csv(profiled).count("\n") == 1


def text(width: int | None) -> str:
    sketch = Sketch((1, 28, 28, 32))
    wide = sketch.conv("in", 64, 3)
    last = sketch.add(Opaque, wide, op_type="Erf", node=ERF, shapes=(sketch.shape(wide),))
    deployment = deployed(sketch.network(sketch.conv(last, 8, 3)))
    timing = deployment.simulate()
    energy = deployment.platform.energy(timing)
    case = replace(
        a_case(),
        **times_of(timing, energy),
        memory=deployment.memory(),
        energy=energy_use(energy),
    )
    with page(width):
        return profile_table(case)


def test_a_narrow_page_says_which_engine_ran_a_layer() -> None:
    rows = [line.split() for line in text(72).splitlines()]
    assert rows[0] == ["layer", "type", "engine", "us", "share", "bound"]
    assert [row[2] for row in rows[2:5]] == ["hvx", "cpu", "hvx"]


def test_columns_are_explained_where_they_are_shown() -> None:
    assert "\nstalls: share of" in text(None)
    assert "\nDDR rd KiB, DDR wr KiB, L2 KiB, VTCM KiB: bytes moved\n" in text(None)
    narrow = text(72)
    assert "stalls: " not in narrow
    assert "bytes moved" not in narrow
    assert "\nbound: what most of" in narrow


def test_of_many_layers_the_sums_and_the_ten_longest_are_shown() -> None:
    """All of them on request, in their order; the sums are those of the whole inference."""
    sketch = Sketch((1, 8, 8, 8))
    name = "in"
    for at in range(20):
        name = sketch.conv(name, 8 * (1 + at % 3))
    deployment = deployed(sketch.network(name))
    timing = deployment.simulate()
    energy = deployment.platform.energy(timing)
    simulated = replace(
        a_case(),
        **times_of(timing, energy),
        memory=deployment.memory(),
        energy=energy_use(energy),
    )
    short, long = profile_table(simulated, every=False), profile_table(simulated)
    names = [layer.name for layer in simulated.layers]
    shown = [line.split()[0] for line in short.splitlines() if line.startswith("convolution")]
    assert shown == ["convolutional", *(layer.name for layer in simulated.slowest(10))]
    assert "10 other layers" in short
    assert short.splitlines()[2].split()[:2] == ["total", "inference"]
    assert [line.split()[0] for line in long.splitlines() if line.split()[:1] != []][2:22] == names


def test_long_names_lose_what_all_of_them_begin_with() -> None:
    names = [f"/a/very/long/module/path/blocks/{at}/conv_2d/Conv" for at in range(3)]
    assert short_names(names) == [f"…{at}/conv_2d/Conv" for at in range(3)]
    assert short_names(["a", "b"]) == ["a", "b"]
    assert short_names([]) == []
    middle = short_names(
        [f"Mobilenet/expanded_conv_{at}/depthwise/BatchToSpaceND" for at in range(9)]
    )
    assert len(set(middle)) == 9
    apart = short_names([f"/points/{at:02}/{'x' * 60}/Conv" for at in range(20)])
    assert len(set(apart)) == 20
    assert max(map(len, apart)) <= 40
