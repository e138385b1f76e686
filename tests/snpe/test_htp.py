"""From V68 on the tools call the tensor processor DSP: the files and times of our htp runtimes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.snpe import Runtime, Session, is_runtime_available
from hexsim.snpe.bench.flavours import flavours
from hexsim.snpe.diag_log import read_diag_log
from tests.accuracy import culprits
from tests.cli.conftest import Done

Tool = Callable[[str], Done]
ON = "--input_list list.txt --chip sd8gen3"

pytestmark = pytest.mark.usefixtures("files")


def raws(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.raw")}


@pytest.mark.parametrize(
    ("container", "flags", "runtime"),
    [
        ("q.dlc", "--use_dsp", "htp"),
        ("q.dlc", "--use_htp", "htp"),
        ("q.dlc", "--runtime_order dsp,cpu", "htp"),
        ("q.dlc", "--runtime_order dsp_fixed8_tf,gpu_float16", "htp"),
        ("m.dlc", "--use_dsp", "htp_fp16"),
        ("m.dlc", "--use_htp", "htp_fp16"),
    ],
)
def test_the_dsp_is_the_tensor_processor(
    container: str, flags: str, runtime: str, tool: Tool, command: Tool, tmp_path: Path
) -> None:
    done = tool(f"snpe-net-run --container {container} {ON} {flags} --output_dir theirs")
    assert done.code == 0, done.err
    assert command(f"run --chip sd835 {container} {ON} --runtime {runtime} -o ours").code == 0
    assert raws(tmp_path / "theirs") == raws(tmp_path / "ours") != {}
    how = "--perf-profile balanced --json p"  # the default of this tool
    assert command(f"profile {container} --chip sd8gen3 --runtime {runtime} {how}").code == 0
    (ours,) = json.loads((tmp_path / "p").read_text())["results"]
    head, rows = read_diag_log(tmp_path / "theirs/SNPEDiag_0.log")
    assert (head["stack"], head["runtime"]) == ("qnn-2.43", runtime)
    by_name = {row.name: row for row in rows}
    assert by_name["Total Inference Time"].ps == round(ours["total_inference_us"] * 1e6)
    layers = [row.runtime for row in rows if row.block == "layer"]
    assert layers == ["CPU", *["DSP"] * 5]
    assert by_name["Total Inference Time"].runtime == "CPU|DSP"


def test_other_tools_take_it_too(tool: Tool) -> None:
    line = "--container q.dlc --chip sd8gen3"
    code, out, _ = tool(f"snpe-throughput-net-run {line} --use_dsp --iterations 3")
    assert (code, out.startswith("[Thread 0 - dsp_fixed8_tf]")) == (0, True)
    code, out, _ = tool(f"snpe-parallel-run {line} --input_list list.txt --use_dsp")
    assert (code, "runtimes: dsp_fixed8_tf - Mode" in out) == (0, True)


def test_profiles_of_2x(tool: Tool, tmp_path: Path) -> None:
    totals = {}
    for profile in ("burst", "power_saver", "extreme_power_saver"):
        line = f"snpe-net-run --container q.dlc {ON} --use_dsp --perf_profile {profile}"
        code, _, err = tool(line)
        assert code == 0
        head, rows = read_diag_log(tmp_path / "output/SNPEDiag_0.log")
        totals[head["perf_profile"]] = {row.name: row.ps for row in rows if row.id is None}
        assert ("and not the time of the graph" in err) is (profile != "burst")
    assert list(totals) == ["burst", "power_saver", "low_power_saver"]
    times = [rows["Total Inference Time"] for rows in totals.values()]
    assert times[0] < times[1] <= times[2], "the call from the CPU"


def test_chips_without_one_say_so(tool: Tool) -> None:
    code, _, err = tool("snpe-net-run --container q.dlc --input_list list.txt --use_htp")
    assert (code, "chip sd835 has no htp runtime" in err) == (2, True)


def test_a_session(tmp_path: Path) -> None:
    assert is_runtime_available(Runtime.DSP, "sd8gen3")
    assert not is_runtime_available(Runtime.AIP_FIXED8_TF, "sd8gen3")
    session = Session(tmp_path / "q.dlc", Runtime.DSP, chip="sd8gen3")
    (feed,) = culprits.inputs(1)
    assert session.execute(feed).keys() == {"scores"}
    assert {layer.engine for layer in session.timing.layers} == {"htp"}


def test_flavours_of_a_benchmark() -> None:
    def runtimes(chip: str, name: str, *, quantized: bool) -> set[str]:
        on = Platform.load(chip)
        return {flavour.on(on, quantized=quantized).runtime for flavour in flavours([name], None)}

    assert runtimes("sd8gen3", "DSP", quantized=True) == {"htp"}
    assert runtimes("sd8gen3", "DSP", quantized=False) == {"htp_fp16"}
    assert runtimes("sd8gen3", "DSP_FP16", quantized=True) == {"htp_fp16"}
    assert runtimes("sd855", "DSP", quantized=True) == {"dsp"}
    with pytest.raises(HexsimError, match="runtime DSP_FP16: the DSP of sd855 does not compute in"):
        runtimes("sd855", "DSP_FP16", quantized=True)
