"""A quantised file is benchmarked as it is; a float one as each runtime loads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from hexsim import dlc
from hexsim.datasheets import measurements
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.inputs.seeded import seeded_inputs
from hexsim.quantization.model import Model
from hexsim.quantization.quantizer import quantize
from hexsim.results.benchmark import Inference, Refusal
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import (
    BenchmarkConditions,
    by_network,
    is_outside,
    run_benchmark,
    run_case,
)
from hexsim.studies.uncertainty import Scope, Times, Uncertainty
from hexsim.texts.figures import figure
from tests.dlc.made import small_network
from tests.hearing import hearing

QUANTIZE = Preparation(quantize=True, sections="all")


def _cases(path: Path, conditions: BenchmarkConditions) -> dict[str, Inference]:
    runtimes: tuple[Runtime, ...] = ("cpu", "dsp", "fxp_cpu")
    cases = run_benchmark([str(path)], Platform.load("sd835"), runtimes, conditions)
    return {case.runtime: case for case in cases if isinstance(case, Inference)}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A float file and the quantised one made from it."""
    network = small_network()
    dlc.write(tmp_path / "f.dlc", Model(network))
    inputs = seeded_inputs({"in": network.shape("in")}, 4)
    dlc.write(tmp_path / "q.dlc", quantize(network, inputs))
    return tmp_path / "f.dlc", tmp_path / "q.dlc"


def test_a_quantized_file_runs_everywhere_and_starts_sooner_on_dsp(
    files: tuple[Path, Path],
) -> None:
    floats, codes = (_cases(path, BenchmarkConditions(preparation=QUANTIZE)) for path in files)
    for cases in (floats, codes):
        assert cases["cpu"].accuracy is not None
        assert cases["cpu"].accuracy.sqnr_db is None, "float against itself"
        assert cases["dsp"].accuracy is not None
        assert 10 < cases["dsp"].accuracy.sqnr_db < 60
    assert floats["dsp"].total_inference_us == codes["dsp"].total_inference_us
    init = [cases["dsp"].initialisation_total_us for cases in (floats, codes)]
    assert init[0] > init[1], "the float network is quantised at load"


def test_a_quantized_file_needs_no_flag(files: tuple[Path, Path]) -> None:
    assert _cases(files[1], BenchmarkConditions(accuracy=False))["fxp_cpu"].total_inference_us > 0


def test_what_a_runtime_refuses_leaves_the_others_alone(files: tuple[Path, Path]) -> None:
    platform = Platform.load("sd865")
    runtimes: tuple[Runtime, ...] = ("cpu", "dsp", "gpu")
    conditions = BenchmarkConditions(accuracy=False)
    results = list(run_benchmark([str(files[0])], platform, runtimes, conditions))
    assert [type(result) for result in results] == [Inference, Refusal, Inference]
    assert "refuses it" in results[1].reason  # type: ignore[union-attr]
    with pytest.raises(HexsimError, match="refuses it"):
        run_case(str(files[0]), platform, "dsp", conditions)


def test_a_case_says_what_the_runtime_was_given(files: tuple[Path, Path]) -> None:
    platform = Platform.load("sd865")
    given = [
        run_case(
            str(path), platform, runtime, BenchmarkConditions(accuracy=False, preparation=QUANTIZE)
        ).given
        for path in files
        for runtime in ("cpu", "dsp")
    ]
    assert given == ["float", "quantised here", "quantised file", "quantised file"]


@pytest.mark.parametrize(("sections", "engines"), [("all", {"hta"}), ("none", {"hvx"})])
def test_what_is_quantized_here_gets_sections(
    sections: Literal["all", "none"], engines: set[str]
) -> None:
    conditions = BenchmarkConditions(
        accuracy=False, preparation=Preparation(quantize=True, sections=sections)
    )
    case = run_case("squeezenet1_1", Platform.load("sd855"), "aip", conditions)
    assert {layer.engine for layer in case.layers} == engines


@pytest.mark.slow
def test_sections_that_cost_time_are_not_automatic() -> None:
    """The compiler's one section of SqueezeNet takes 3.5 ms, and the inference without it 2.5."""
    conditions = BenchmarkConditions(
        accuracy=False, preparation=Preparation(quantize=True), sweep="a few draws"
    )
    platform = Platform.load("sd855")
    compiled, dsp, aip = (
        run_case("squeezenet1_1", platform, runtime, changed)
        for runtime, changed in (
            ("aip", replace(conditions, preparation=QUANTIZE)),
            ("dsp", conditions),
            ("aip", conditions),
        )
    )
    assert compiled.total_inference_us > dsp.total_inference_us == aip.total_inference_us
    assert aip.hta_choice == (
        f"no HTA section: SNPE's compiler makes section 1-40, with which an inference takes "
        f"{figure(compiled.total_ms)} ms, without {figure(aip.total_ms)} ms; "
        "quantising for HTA compiles them"
    )
    assert aip.uncertainty is not None, "every time has an interval"
    low, high = aip.uncertainty.total_inference_us
    assert low < aip.total_inference_us < high
    alexnet = run_case("alexnet", platform, "aip", conditions)
    assert alexnet.hta_choice is not None
    assert alexnet.hta_choice.startswith("HTA section")
    assert "hta" in {layer.engine for layer in alexnet.layers}


def test_runtimes_share_drawn_times_only_if_their_plans_are_equal(
    files: tuple[Path, Path],
) -> None:
    platform = Platform.load("sd855")
    conditions = BenchmarkConditions(accuracy=False, sweep="a few draws")
    runtimes: tuple[Runtime, ...] = ("cpu", "fxp_cpu", "gpu", "gpu_fp16", "dsp", "aip")
    source = str(files[1])
    together = run_benchmark([source], platform, runtimes, conditions)
    for case in together:
        assert isinstance(case, Inference)
        alone = run_case(source, platform, case.runtime, conditions)
        assert case.uncertainty == alone.uncertainty is not None
    plans = {runtime: deploy(load(source), platform, runtime).plan for runtime in runtimes}
    assert plans["dsp"].timed == plans["aip"].timed
    kinds = {runtime: plan.timed for runtime, plan in plans.items() if runtime != "aip"}
    for kind, timed in kinds.items():
        assert [other for other in kinds if kinds[other] == timed] == [kind]


def test_networks_of_one_name_are_called_by_their_files(files: tuple[Path, Path]) -> None:
    paths = [str(path) for path in files]
    conditions, platform = BenchmarkConditions(accuracy=False), Platform.load("sd835")
    results = list(run_benchmark([*paths, paths[0]], platform, ("cpu",), conditions))
    assert len(results) == 2, "a file that is named twice counts once"
    assert [result.network for result in results] == paths
    (alone,) = run_benchmark(paths[:1], platform, ("cpu",), conditions)
    assert alone.network == small_network().name, "no other network has that name"


def test_a_network_is_reported_as_soon_as_it_is_known(files: tuple[Path, Path]) -> None:
    """The first table is printed while the next network has not begun."""
    conditions, platform = BenchmarkConditions(accuracy=False), Platform.load("sd835")
    paths = [str(path) for path in files]
    with hearing() as heard:
        results = by_network(paths, platform, ("cpu",), conditions)
        next(results)
        assert heard.steps[-1] == f"{paths[0]} on cpu"
        next(results)
        assert heard.steps[-1] == f"{paths[1]} on cpu"


FOUND = Uncertainty(Times(9e3, 8e3), Times(12e3, 11e3), Times(14e3, 13e3), (), ())


@pytest.mark.parametrize(("factor", "outside"), [(0.5, True), (1.0, False), (2.0, True)])
def test_a_measured_time_is_held_against_its_own_figure(factor: float, outside: bool) -> None:
    (row,) = measurements.find("squeezenet1_1", "sd835", "snpe-1.23", "dsp", forward=True)
    assert row.latency_ms == 11
    scaled = Uncertainty(
        *(Times(t.total_us, t.forward_us * factor) for t in (FOUND.low, FOUND.nominal, FOUND.high)),
        (),
        (),
    )
    assert is_outside(row, scaled) is outside
    assert not is_outside(row, replace(scaled, scope="a few draws")), "it speaks of no other"


@pytest.mark.parametrize(("buffer", "shown"), [("tf8", (2.947,)), ("float", ())])
def test_a_time_is_shown_beside_the_buffers_it_was_measured_with(
    buffer: BufferType, shown: tuple[float, ...]
) -> None:
    (case,) = run_benchmark(
        ["mobilenet_v1"],
        Platform.load("sd855", "snpe-1.30"),
        ["dsp"],
        BenchmarkConditions(buffer=buffer, accuracy=False, preparation=Preparation(quantize=True)),
    )
    assert isinstance(case, Inference)
    assert case.measured_ms.total_inference == shown


@pytest.mark.parametrize(
    ("stated", "shown"), [(None, (14.0,)), ("balanced", (14.0,)), ("burst", ())]
)
def test_a_time_is_shown_beside_the_profile_it_was_measured_with(
    stated: str | None, shown: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple(replace(row, perf_profile=stated) for row in measurements.rows())
    monkeypatch.setattr(measurements, "rows", lambda: rows)
    (case,) = run_benchmark(
        ["mobilenet_v1"],
        Platform.load("sd835", "snpe-1.23"),
        ["dsp"],
        BenchmarkConditions("balanced", accuracy=False, preparation=Preparation(quantize=True)),
    )
    assert isinstance(case, Inference)
    assert case.measured_ms.forward_propagate == shown


def test_the_resolution_of_a_measurement_is_granted() -> None:
    (row,) = measurements.find("mobilenet_v1", "sd835", "snpe-1.23", "dsp", forward=True)
    assert row.latency_ms == 14
    assert row.resolution_ms == 1
    assert not is_outside(row, FOUND)


@pytest.mark.parametrize(("chip", "runtime"), [("sd855", "dsp"), ("sd8gen4", "htp")])
def test_a_time_has_one_interval(chip: str, runtime: Runtime) -> None:
    """Naming the constants behind it changes nothing of its ends."""
    scopes: tuple[Scope, ...] = ("a few draws", "everything")
    few, named = (
        run_case(
            "conv1x1_16to16@8x8",
            Platform.load(chip),
            runtime,
            BenchmarkConditions(
                accuracy=False, preparation=Preparation(quantize=True), sweep=scope
            ),
        ).uncertainty
        for scope in scopes
    )
    assert few is not None
    assert named is not None
    assert named.total_inference_us == few.total_inference_us
    assert named.initialisation_us == few.initialisation_us
    assert named.constants
    assert not few.constants
