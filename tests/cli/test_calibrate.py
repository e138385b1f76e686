"""`hexsim calibrate` writes files that other commands take, or says in a sentence why not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim.datasheets import chips, stacks
from tests.cli.conftest import Done

ROWS = "runtime,model,latency_ms\ndsp,squeezenet1_1,4.40\ndsp,alexnet,9.1\ndsp,mobilenet_v1,4.9\n"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)
    return file


@pytest.fixture
def one_row(rows: Path) -> Path:
    """The same file with its first row alone, where what rows tell is not judged."""
    rows.write_text("".join(ROWS.splitlines(keepends=True)[:2]))
    return rows


def total_us(command: Callable[[str], Done], options: str) -> float:
    done = command(
        "bench --chip sd835 "
        f"--model squeezenet1_1 --runtime dsp --timing-only {options} --json b.json"
    )
    assert done.code == 0, done.err
    return float(json.loads(Path("b.json").read_text())["results"][0]["total_inference_us"])


@pytest.mark.slow
def test_a_stack_file_that_bench_takes(command: Callable[[str], Done], rows: Path) -> None:
    done = command(f"calibrate {rows} --chip sd845 -o mine.toml --json out.json")
    assert done.code == 0, done.err
    assert done.out.rstrip().endswith("Use it: --chip sd845 --stack mine.toml")
    document = json.loads(Path("out.json").read_text())
    assert (document["chip"], document["stack"]) == ("sd845", "snpe-1.30")
    assert [row["network"] for row in document["rows"]] == [
        "squeezenet1_1",
        "alexnet",
        "mobilenet_v1",
    ]
    reported = [entry for entry in document["constants"] if entry["reported"]]
    assert {entry["stated_by"] for entry in reported} == {"snpe-1.30"}
    for constant in reported:
        assert constant["constant"] in done.out
        assert constant["one_sigma_factor_before"] >= constant["one_sigma_factor_after"] > 1
    assert document["one_run_alone"]["median_error_of_others_after"] > 0
    after = total_us(command, "--chip sd845 --stack mine.toml") / 1e3
    first = document["rows"][0]
    assert after == pytest.approx(first["after_ms"])
    assert abs(after - 4.40) < abs(first["before_ms"] - 4.40)
    assert stacks.load("mine.toml").title == "SNPE 1.30 (2019), calibrated with rows.csv"


def test_both_files(command: Callable[[str], Done], one_row: Path) -> None:
    done = command(
        f"calibrate {one_row} --chip sd855 --adjust both -o stack.toml --chip-output chip.toml"
    )
    assert done.code == 0, done.err
    assert (stacks.load("stack.toml").name, chips.load("chip.toml").name) == ("snpe-1.30", "sd855")
    assert total_us(command, "--chip chip.toml --stack stack.toml") != total_us(
        command, "--chip sd855"
    )


@pytest.mark.slow
def test_a_calibrated_stack_is_calibrated_again(
    command: Callable[[str], Done], one_row: Path
) -> None:
    assert command(f"calibrate {one_row} --chip sd845 -o one.toml").code == 0
    again = command(f"calibrate {one_row} --chip sd845 --stack one.toml -o two.toml")
    assert again.code == 0, again.err
    constants = dict(stacks.load("two.toml").quantities())
    assert "calibrated with rows.csv" in constants["dispatch.node_clk"].source


def test_an_example_of_the_page_is_run(command: Callable[[str], Done], rows: Path) -> None:
    rows.write_text("runtime,model,latency_ms\ndsp,squeezenet1_1,4.1\n")
    done = command(f"calibrate {rows} --chip sd845 -o mine.toml")
    assert "left out" not in done.out.splitlines()[-2]
    assert "Each predicted by" not in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("rows.csv --chip sd845", "--output"),
        ("rows.csv --chip sd845 -o mine.txt", "must end in .toml"),
        ("rows.csv --chip sd845 -o mine.toml --adjust both", "--chip-output"),
        ("rows.csv --chip sd845 -o mine.toml --chip-output c.toml", "--adjust both"),
        ("rows.csv --chip sd999 -o mine.toml", "unknown chip 'sd999'"),
        (
            "none.csv --chip sd845 -o mine.toml",
            "measured rows 'none.csv': No such file",
        ),
        ("rows.csv --chip sd845 -o none/mine.toml", "cannot write"),
        ("wrong.csv --chip sd845 -o mine.toml", "wrong.csv, line 2: latency_ms 'fast'"),
    ],
)
def test_mistakes_are_one_sentence_and_no_file(
    refused: Callable[[str], str], rows: Path, options: str, message: str
) -> None:
    rows.with_name("wrong.csv").write_text("runtime,model,latency_ms\ndsp,alexnet,fast\n")
    assert message in refused(f"calibrate {options}")


def test_no_input_is_overwritten(
    command: Callable[[str], Done], refused: Callable[[str], str], one_row: Path
) -> None:
    assert command(f"calibrate {one_row} --chip sd845 -o one.toml").code == 0
    message = refused("calibrate rows.csv --chip sd845 --stack one.toml -o one.toml")
    assert "would overwrite an input" in message
