"""What is published of answers: rows name what exists, and stand beside the simulated answers."""

from pathlib import Path

from msgspec.structs import replace

from hexsim import dlc, models
from hexsim.datasheets import chips, measurements, stacks
from hexsim.datasheets.measurements import FAULT, outcomes
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation
from hexsim.dlc.loading import load
from hexsim.reports.benchmark import benchmark_tables, footnotes
from hexsim.results.accuracy import Accuracy
from hexsim.results.benchmark import Benchmark
from hexsim.results.costs import Figures
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_case

QUANTIZED = BenchmarkConditions(accuracy=False, preparation=Preparation(quantize=True))


def test_every_row_names_things_that_exist() -> None:
    for row in outcomes():
        assert row.chip in chips.names()
        assert row.stack in stacks.names()
        assert models.is_name(row.model)
        assert row.outcome in ("right", "wrong", FAULT)
        assert row.confidence in ("documented", "inferred")
        assert row.source
    assert len({(r.chip, r.stack, r.model, r.runtime) for r in outcomes()}) == len(outcomes())


def test_a_program_that_crashed_has_no_times() -> None:
    crashed = [row for row in outcomes() if row.outcome == FAULT]
    assert [(row.model, row.runtime) for row in crashed] == [("mobilenet_v1", "fxp_cpu")]
    for row in crashed:
        assert not measurements.find(row.model, row.chip, row.stack, row.runtime, forward=False)


def test_the_table_has_them_beside_ours() -> None:
    conditions, platform = QUANTIZED, Platform.load("sd835")
    accuracy = Accuracy(
        compared_on="a", inputs=4, sqnr_db=30.0, top1_agreement=2, top1_margin_ratio=0.5
    )
    runtimes: tuple[Runtime, ...] = ("fxp_cpu", "gpu_fp16", "dsp")
    cases = tuple(
        replace(run_case("mobilenet_v1", platform, runtime, conditions), accuracy=accuracy)
        for runtime in runtimes
    )
    table = benchmark_tables(cases)
    rows = {line.split("  ")[0]: line for line in table.splitlines()}
    answers = rows["same top-1, made-up weights"]
    assert answers.split("same top-1, made-up weights")[1].split() == [
        *("2/4", "2/4", "2/4"),
    ]
    assert FAULT not in rows["total inference (ms)"]
    assert rows["answers"].split("answers")[1].split() == [*FAULT.split(), "wrong?", "wrong"]
    assert "made-up weights judge nothing" in footnotes(Benchmark(results=cases))
    outcomes_of = [case.measured_outcome and case.measured_outcome.outcome for case in cases]
    assert outcomes_of == [FAULT, "wrong", "wrong"]


def test_a_file_of_the_user_has_none(tmp_path: Path) -> None:
    dlc.write(tmp_path / "m.dlc", load("conv1x1_8to8"))
    case = run_case(
        f"{tmp_path / 'm.dlc'}", Platform.load("sd835"), "dsp", BenchmarkConditions(accuracy=False)
    )
    assert case.measured_outcome is None
    assert case.measured_ms == Figures()
