"""The benchmark that README.md shows.

python -m benchmarks.readme --write    runs `hexsim bench` and puts it into the page
"""

from __future__ import annotations

import sys

from benchmarks.pages import fenced, with_block
from benchmarks.timing_model import README
from hexsim.cli.bench import DEFAULT_MODELS
from hexsim.deployment.given import Preparation
from hexsim.files import write_text
from hexsim.platform import Platform
from hexsim.reports.benchmark_table import benchmark_tables
from hexsim.studies.benchmark import BenchmarkConditions, Case, run_benchmark


def readme_page() -> str:
    """Return README.md with what the benchmark prints today."""
    platform = Platform.load()
    conditions = BenchmarkConditions(preparation=Preparation(quantize=True))
    results = run_benchmark(DEFAULT_MODELS, platform, platform.runtimes, conditions)
    cases = [result for result in results if isinstance(result, Case)]
    text = README.read_text(encoding="utf-8")
    return with_block(text, "bench", fenced(benchmark_tables(cases)))


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_text(README, readme_page())
    else:
        print(readme_page())
