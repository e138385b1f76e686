"""The benchmark of docs/results/benchmark.md, and the picture that README.md begins with.

python -m benchmarks.readme --write    runs `hexsim bench`, draws the roofline, and writes both
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.pages import DOCS, RESULTS, ROOT, fenced, with_block
from hexsim.api.pictures import pictures
from hexsim.cli.bench import DEFAULT_MODELS
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.files.atomic_write import write_bytes, write_text
from hexsim.inputs.source import InputRoles
from hexsim.reports.benchmark import benchmark_tables
from hexsim.reports.picture import picture as roofline_picture
from hexsim.studies.benchmark import BenchmarkConditions, answered, run_benchmark, run_case
from hexsim.studies.judging import Judging, roles_of

PAGE = RESULTS / "benchmark.md"
DIGITS = ROOT / "examples/digits"
PICTURE = DOCS / "images" / "roofline.png"


def page() -> str:
    """Return docs/results/benchmark.md with what the benchmark prints today."""
    text = PAGE.read_text(encoding="utf-8")
    text = with_block(text, "bench", _tables(DEFAULT_MODELS))
    inputs = Judging(
        inputs=pictures(DIGITS / "photos", std=255),
        labels=DIGITS / "named.txt",
        calibration=pictures(DIGITS / "calibration", std=255),
    )
    trained = _tables([f"{DIGITS}/digits.onnx"], inputs=inputs)
    return with_block(text, "trained", trained)


def _tables(sources: Sequence[str], inputs: Judging | None = None) -> str:
    platform = Platform.load("sd835")

    def roles(given: SourceModel) -> InputRoles:
        assert inputs is not None
        return roles_of(inputs, given.model, given.overrides, platform.runtimes)

    conditions = BenchmarkConditions(
        preparation=Preparation(quantize=True), inputs=roles if inputs else None
    )
    results = run_benchmark(sources, platform, platform.runtimes, conditions)
    return fenced(benchmark_tables(answered(results)[0]))


def picture() -> bytes:
    """Draw the layers of MobileNet v2 under the roofs of a Snapdragon 855."""
    platform = Platform.load("sd855")
    conditions = BenchmarkConditions(accuracy=False, roofs=True)
    case = run_case("mobilenet_v2", platform, "dsp", conditions)
    assert case.roofline is not None
    return roofline_picture(case, case.roofline, "png")


def main() -> None:
    """Print the page, or write it and the picture."""
    if "--write" not in sys.argv:
        print(page())
        return
    write_text(PAGE, page())
    write_bytes(PICTURE, picture())


if __name__ == "__main__":
    main()
