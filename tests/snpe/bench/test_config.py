"""The config is read as a person writes it, and told what is wrong with it by key."""

import json
from pathlib import Path
from typing import Any

import pytest

from hexsim.errors import HexsimError
from hexsim.snpe.bench.config import MOST_RUNS, BenchSettings, read_config, settings

MODEL = {"Name": "n", "Dlc": "n.dlc", "InputList": "l.txt", "Data": ["d", "e"]}
FULL: dict[str, Any] = {
    "Name": "N",
    "HostRootPath": "h",
    "HostResultsDir": "h/r",
    "DevicePath": "/d",
    "Devices": ["sd835"],
    "HostName": "localhost",
    "Runs": 3,
    "Model": MODEL,
    "Runtimes": ["CPU", "DSP"],
    "Measurements": ["timing", "mem"],
    "CpuFallback": True,
    "BufferTypes": ["float", ""],
    "UBFloatOutput": "true",
    "PerfProfile": "burst",
    "ProfilingLevel": "detailed",
    "PlatformOptions": [],
}


def written(folder: Path, **changes: Any) -> Path:
    (folder / "c.json").write_text(json.dumps(FULL | changes))
    return folder / "c.json"


def test_every_key_is_read(tmp_path: Path) -> None:
    config = read_config(written(tmp_path))
    assert (config.name, config.results, config.device) == ("N", Path("h/r"), "sd835")
    assert (config.runs, config.cpu_fallback, config.float_outputs) == (3, True, True)
    assert (config.dlc, config.input_list) == (Path("n.dlc"), Path("l.txt"))
    assert config.data == (Path("d"), Path("e"))
    assert config.runtimes == ("CPU", "DSP")
    assert config.measurements == ("timing", "mem")
    assert config.buffers == ("float", "")
    assert config.device_keys == ("DevicePath", "HostName")
    assert settings(config) == BenchSettings("burst", "detailed", ("float", ""), 0, False)


def test_one_text_stands_for_a_list_and_digits_for_a_number(tmp_path: Path) -> None:
    model = {"Name": "n", "Dlc": "n.dlc", "RandomInput": "5"}
    config = read_config(written(tmp_path, Runs="2", Runtimes="DSP", Model=model, BufferTypes=""))
    assert (config.runs, config.runtimes, config.buffers) == (2, ("DSP",), None)
    assert (config.random_inputs, config.input_list, config.data) == (5, None, ())


def test_the_command_line_goes_before_the_config(tmp_path: Path) -> None:
    config = read_config(written(tmp_path))
    chosen = settings(config, perf_profile="balanced", profiling_level="off", user_buffer="tf8")
    assert chosen == BenchSettings("balanced", "off", ("ub_tf8",), 0, False)
    nothing = read_config(written(tmp_path, PerfProfile="", ProfilingLevel=""))
    assert settings(nothing).perf_profile == "high_performance"
    assert settings(nothing).profiling_level == "basic"


@pytest.mark.parametrize("key", [key for key in FULL if key not in ("HostName", "PlatformOptions")])
def test_a_value_of_another_type_is_reported_by_its_key(key: str, tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=key) as refused:
        read_config(written(tmp_path, **{key: 3.5}))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"Runs": 0}, f"Runs is 0; give a whole number from 1 to {MOST_RUNS}"),
        ({"Runs": True}, "Runs is True"),
        ({"Runs": 10**9}, "Runs is 1000000000"),
        ({"Name": "a/b"}, "Name 'a/b' cannot be part of a file's name"),
        ({"Name": "a\nb"}, "Name 'a\\nb' cannot be part of a file's name"),
        ({"Name": "a" * 101}, "cannot be part of a file's name; give at most 100 letters"),
        ({"HostResultsDir": "a\0b"}, "HostResultsDir holds a NUL"),
        ({"Model": MODEL | {"Udo": "x"}}, "Found invalid key in Model: Udo"),
        ({"Model": MODEL | {"UDO": "x"}}, "operators of one's own are not simulated"),
        ({"Model": {"Dlc": "x"}}, "Missing value for Model:Name"),
        ({"Devices": [["x"] * 90]}, "Devices is"),
    ],
)
def test_what_is_wrong(changes: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(HexsimError) as refused:
        read_config(written(tmp_path, **changes))
    assert sentence in str(refused.value)
    assert len(str(refused.value)) < len(str(tmp_path)) + 200


@pytest.mark.parametrize("text", ["", "[]", "{", '{"Name": "a", "Name": "b"}', "\0"])
def test_what_is_no_config(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(HexsimError, match="config"):
        read_config(tmp_path / "c.json")
