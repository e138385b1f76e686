"""The command behind the accuracy tables measures every mode and knows its place in the page."""

from pathlib import Path

import pytest

from benchmarks.real_accuracy import MODES, on_runtimes, page_with, tables
from benchmarks.real_networks import autoencoder, keywords


@pytest.mark.slow
def test_tables_have_a_row_for_every_mode(real_data: Path) -> None:
    text = tables([keywords(real_data), autoencoder(real_data)], "sd835")
    counts, noise = (part.splitlines() for part in text.split("SQNR"))
    assert "| float | 2 of 3, 4 of 4 |" in counts
    for lines, columns in ((counts, 2), (noise, 3)):
        rows = {line.split(" | ")[0].strip("| "): line for line in lines if line.startswith("| ")}
        assert set(MODES) <= set(rows)
        assert all(row.count("|") == columns + 1 for row in rows.values())


def test_every_runtime_has_its_right_answers(real_data: Path) -> None:
    *_, cpu, fxp_cpu, gpu, gpu_fp16, dsp = on_runtimes([keywords(real_data)], "sd835").splitlines()
    assert (cpu, dsp) == ("| cpu | 2 of 3 |", "| dsp | 2 of 3 |")
    assert {row.split()[1] for row in (fxp_cpu, gpu, gpu_fp16)} == {"fxp_cpu", "gpu", "gpu_fp16"}


def test_the_page_keeps_what_stands_around_the_tables() -> None:
    before, rest = page_with("new").split("new\n")
    assert before.endswith("<!-- trained networks: begin -->\n")
    assert rest.startswith("<!-- trained networks: end -->")
    assert before.startswith("# ")
