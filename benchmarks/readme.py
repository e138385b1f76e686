"""The benchmark of docs/results/benchmark.md, and the picture that README.md begins with.

python -m benchmarks.readme --write    runs `hexsim bench` and `hexsim roofline`, and writes both
"""

from __future__ import annotations

import sys

from benchmarks.pages import DOCS, RESULTS, fenced, with_block
from hexsim.cli.bench import DEFAULT_MODELS
from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.files import write_bytes, write_text
from hexsim.reports.benchmark_table import benchmark_tables
from hexsim.reports.roofline_chart import picture as roofline_picture
from hexsim.studies.benchmark import BenchmarkConditions, Case, run_benchmark, run_case
from hexsim.studies.roofline import roofline

PAGE = RESULTS / "benchmark.md"
PICTURE = DOCS / "images" / "roofline.png"


def page() -> str:
    """Return docs/results/benchmark.md with what the benchmark prints today."""
    platform = Platform.load()
    conditions = BenchmarkConditions(preparation=Preparation(quantize=True))
    results = run_benchmark(DEFAULT_MODELS, platform, platform.runtimes, conditions)
    cases = [result for result in results if isinstance(result, Case)]
    text = PAGE.read_text(encoding="utf-8")
    return with_block(text, "bench", fenced(benchmark_tables(cases)))


def picture() -> bytes:
    """Draw the layers of MobileNet v2 under the roofs of a Snapdragon 855."""
    platform = Platform.load("sd855")
    case = run_case("mobilenet_v2", platform, "dsp", BenchmarkConditions(accuracy=False))
    return roofline_picture(roofline(case, platform), "png")


def main() -> None:
    """Print the page, or write it and the picture."""
    if "--write" not in sys.argv:
        print(page())
        return
    write_text(PAGE, page())
    write_bytes(PICTURE, picture())


if __name__ == "__main__":
    main()
