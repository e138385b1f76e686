"""Profiles of phones are recognised by their content and read."""

from pathlib import Path

import pytest

from hexsim.deployment.phone_profile.profile import MeasuredRun, PhoneProfile, layer_name
from hexsim.deployment.phone_profile.reading import read_profile
from hexsim.errors import HexsimError
from tests.deployment.phone_profile.files import AI_HUB, BENCHMARK, DIAGVIEW_2, FILES, QNN

CONV = "_block_0_conv_Conv"


def read(text: str, tmp_path: Path) -> PhoneProfile:
    path = tmp_path / "profile"  # its name says nothing
    path.write_text(text)
    return read_profile(path)


def times(run: MeasuredRun) -> list[tuple[str, int | None, float]]:
    return [(layer.name, layer.id, layer.us) for layer in run.layers]


def test_columns_of_a_benchmark_are_runs(tmp_path: Path) -> None:
    profile = read(BENCHMARK, tmp_path)
    assert (profile.format, profile.perf_profile) == ("snpe_bench CSV", "burst")
    assert [(run.runtime, run.buffer) for run in profile.runs] == [
        ("cpu", ""),
        ("dsp", ""),
        ("dsp", "tf8"),
    ]
    dsp = profile.runs[1]
    assert times(dsp) == [
        ("x", 0, 8.0),
        ("/block.0/conv/Conv", 1, 0.0),
        ("act", 2, 120.0),
        ("pool", 3, 20.0),
        ("", 4, 4.0),
    ]
    assert (dsp.layers[2].low_us, dsp.layers[2].high_us) == (116.0, 125.0)
    assert dsp.totals["Forward Propagate"] == 200.0
    assert len(profile.runs[2].layers) == 4  # a cell that is a space is no time


def test_numbers_of_diagview_begin_with_the_inputs_in_the_first_generation(tmp_path: Path) -> None:
    profile = read(FILES["diag.txt"], tmp_path)
    (run,) = profile.runs
    assert times(run) == [("", 0, 8.0), ("", 1, 0.0), ("", 2, 120.0), ("", 3, 20.0)]
    assert (run.runtime, profile.inputs_have_ids) == ("dsp", True)
    assert run.totals["Total Inference Time"] == 300.0


def test_cycles_are_shares_of_the_accelerator(tmp_path: Path) -> None:
    profile = read(DIAGVIEW_2, tmp_path)
    (run,) = profile.runs  # 12000 cycles in 150 us: 80 cycles a microsecond
    assert times(run) == [("Input", 0, 12.5), (CONV, 1, 100.0), ("pool", 2, 37.5)]
    assert not profile.inputs_have_ids
    assert "80 of them count as a microsecond" in profile.remark


def test_events_of_all_inferences_are_averaged(tmp_path: Path) -> None:
    profile = read(QNN, tmp_path)
    (run,) = profile.runs  # the file's own totals: 12000 cycles in 120 us
    assert times(run) == [(CONV, None, 90.0), ("pool", None, 30.0)]
    assert (run.layers[0].low_us, run.layers[0].high_us) == (80.0, 100.0)
    assert run.totals["Accelerator (execute) time"] == 120.0
    assert "100 of them count as a microsecond" in profile.remark


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("Input OpId_2 (cycles)", "Input"),
        ("/block.0/conv/Conv_token_1_2:OpId_24 (cycles)", "/block.0/conv/Conv"),
        ("conv_token_3", "conv"),
        ("dense/MatMul:OpId_18", "dense/MatMul"),
        ("plain", "plain"),
    ],
)
def test_names_in_identifiers(identifier: str, name: str) -> None:
    assert layer_name(identifier) == name


@pytest.mark.parametrize("without", ['"execution_time": 90,', '"execution_time": 30,', "both", ""])
def test_a_job_has_times_or_cycles(tmp_path: Path, without: str) -> None:
    keys = ['"execution_time": 90,', '"execution_time": 30,'] if without == "both" else [without]
    text = AI_HUB
    for key in filter(None, keys):
        text = text.replace(key, key.replace("90", "-1").replace("30", "-1"))
    (run,) = read(text, tmp_path).runs
    # 140 us and 12000 cycles if all times are missing; else a missing time is none
    expected = {"both": (105.0, 35.0), "": (90.0, 30.0)}
    conv, pool = (layer.us for layer in run.layers)
    assert (conv, pool) == pytest.approx(
        expected.get(without, (0.0 if "90" in without else 90.0, 0.0 if "30" in without else 30.0))
    )
    assert run.totals == {"estimated inference time": 140.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is in no known format"),
        ("some,other\n1,2\n", "is in no known format"),
        ("[1, 2]", "is in no known format"),
        ('{"a": 1', "repair the JSON"),
        ('{"hexsim_version": "1", "results": []}', "is a result of hexsim"),
        ('{"execution_detail": [{"type": "Conv2d"}]}', "key 'execution_detail.0.name' is missing"),
        ('{"execution_detail": []}', "no times of layers"),
        (BENCHMARK.replace("_timing(", "_mem("), "has no columns of times"),
        (BENCHMARK.replace("400,410", "much,410"), "'much' is no time in microseconds"),
        (BENCHMARK.replace("layer_", "row_"), "has no times of layers"),
        (FILES["diag.txt"].replace("Layer Times:", "Other:"), "has no times of layers"),
        (DIAGVIEW_2.replace("Accelerator Time: 150 us", ""), "no accelerator time"),
        (QNN.replace("NODE,3000", "NODE,-3"), "line 7: '-3' is no time of an event"),
        (
            AI_HUB.replace('time": 90', 'time": 1e300'),
            "layer '_block_0_conv_Conv' took 1e.300 us, which is no time",
        ),
        (BENCHMARK.replace("400,410", "1e-300,410"), "took 1e-300 us, which is no time"),
        (QNN.replace("EXECUTE,120,", "EXECUTE,1e25,"), "the accelerator took 1e.25 us"),
        (QNN.replace("NODE,3000", "NODE,1e200"), "layer 'pool' took 1e.198 us"),
        (QNN.replace(",Time,", ",Tim,"), "line 1: column 'Time' is missing"),
        (QNN.replace("NODE", "OTHER"), "has no times of layers"),
        (QNN.replace(",ROOT,Accelerator (execute) time\n", ",ROOT\n"), "values, and the header"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(HexsimError, match=said.replace("(", r"\(").replace(")", r"\)")) as error:
        read(text, tmp_path)
    assert "\n" not in str(error.value)
