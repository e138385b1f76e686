"""`snpe-parallel-run` as typed: each result is that of the runtime whose turn it was."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim.snpe.diag_log import read_diag_log
from tests.cli.conftest import Done

Tool = Callable[[str], Done]
LIST = "--container q.dlc --input_list list.txt"
RUN = f"snpe-parallel-run {LIST}"

pytestmark = pytest.mark.usefixtures("files")


def test_inputs_go_to_the_runtimes_in_turn(tool: Tool, tmp_path: Path) -> None:
    line = f"{RUN} --use_dsp --use_cpu --perf_profile burst --profiling_level basic"
    code, out, err = tool(line)
    assert (code, err) == (0, "")
    for flags, folder in (("--use_dsp", "dsp"), ("", "cpu")):
        line = f"snpe-net-run {LIST} {flags} --output_dir {folder} --perf_profile burst"
        assert tool(f"{line} --profiling_level basic").code == 0
    results = [
        [(tmp_path / f / f"Result_{i}/scores.raw").read_bytes() for i in range(3)]
        for f in ("output", "dsp", "cpu")
    ]
    mixed, dsp, cpu = results
    assert mixed == [dsp[0], cpu[1], dsp[2]] != dsp
    init = 0
    for number, folder, count in ((0, "dsp", 2), (1, "cpu", 1)):
        head, rows = read_diag_log(tmp_path / f"output/SNPEDiag_{number}.log")
        assert head["inferences"] == count
        assert rows == read_diag_log(tmp_path / f"{folder}/SNPEDiag_0.log")[1]
        init += next(row.ps for row in rows if row.name == "Init")
    words = "dsp_fixed8_tf cpu_float32 - Mode :0- Number of images processed: 3"
    assert out.startswith("PSNPE start executing...\nProcessing DNN input(s):\n0.raw\n")
    assert f"\nruntimes: {words}\nBuild time: {init / 1e12:.6f} seconds.\n" in out


def test_two_runtimes_are_faster_than_one(tool: Tool) -> None:
    def rate(flags: str) -> float:
        return float(tool(f"{RUN} {flags} --cpu_fallback true")[1].split()[-2])

    assert rate("--use_dsp --runtime_order gpu,cpu") > rate("--use_dsp")


def test_threads_without_inputs_do_nothing(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("0.raw\n")
    code, out, _ = tool(f"{RUN} --use_dsp --use_dsp --use_gpu")
    assert code == 0
    assert "Number of images processed: 1\n" in out
    assert [path.name for path in (tmp_path / "output").iterdir()] == ["Result_0"]


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("", "no thread has a runtime"),
        ("--use_aip", "names no runtime of sd835"),
        ("--use_dsp --perf_profile burst --perf_profile default", "1 runtimes and 2 times"),
        ("--use_dsp --cpu_fallback yes", "unknown value of --cpu_fallback 'yes'"),
        ("--use_dsp --output_dir q.dlc", "cannot make folder 'q.dlc'"),
    ],
)
def test_refusals(flags: str, sentence: str, tool: Tool) -> None:
    code, out, err = tool(f"{RUN} {flags}")
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
