"""What is published of answers: rows name what exists, and stand beside the simulated answers."""

import json
from dataclasses import replace

from hexsim import models
from hexsim.accuracy.agreement import Agreement
from hexsim.datasheets import chips, measurements, stacks
from hexsim.datasheets.measurements.answers import FAULT, outcomes
from hexsim.deployment.platform import Platform
from hexsim.reports.benchmark.data import benchmark_facts
from hexsim.reports.benchmark.table import benchmark_tables, footnotes
from hexsim.studies.benchmark import BenchmarkConditions, run_case


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
    conditions = BenchmarkConditions(accuracy=False)
    dsp = run_case("mobilenet_v1", Platform.load("sd835"), "dsp", conditions)
    dsp = replace(dsp, agreement=Agreement(4, 30.0, 2, 0.5))
    cases = [replace(dsp, runtime="fxp_cpu"), replace(dsp, runtime="gpu_fp16"), dsp]
    table = benchmark_tables(cases)
    rows = {line.split("  ")[0]: line for line in table.splitlines()}
    answers = rows["same top-1, made-up weights"]
    assert answers.split("same top-1, made-up weights")[1].split() == [
        *("2/4", "2/4", "[wrong?]", "2/4", "[wrong]"),
    ]
    assert rows["total inference (ms)"].count(f"[{FAULT}]") == 1
    assert "made-up weights judge nothing" in footnotes(cases)
    facts = json.loads(benchmark_facts.json(cases))["results"]
    assert [f["measured_outcome"]["outcome"] for f in facts] == [FAULT, "wrong", "wrong"]
    (own,) = json.loads(benchmark_facts.json([replace(dsp, builtin=False)]))["results"]
    assert own["measured_outcome"] is None
