"""`hexsim view` writes the page that it says it writes; its numbers are those of `hexsim info`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from hexsim.texts.figures import figure
from tests.accuracy import culprits
from tests.cli.conftest import Done
from tests.reports.pages.conftest import data_of

Command = Callable[[str], Done]


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> None:
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))


def test_numbers_are_those_of_info(command: Command, tmp_path: Path) -> None:
    assert command("info q.dlc --json info.json").code == 0
    assert command("view q.dlc -o page.html").code == 0
    info = json.loads((tmp_path / "info.json").read_text())
    page = data_of((tmp_path / "page.html").read_text())
    rows, layers = info.pop("layers"), page.pop("layers")
    assert info.items() <= page.items()
    assert len(rows) == len(layers)
    assert all(row.items() <= layer.items() for row, layer in zip(rows, layers, strict=True))


def test_the_page_lies_beside_the_model_by_default(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("view q.dlc")
    assert (code, out) == (0, "wrote q.dlc.html\n")
    first = (tmp_path / "q.dlc.html").read_bytes()
    assert command("view q.dlc").code == 0
    assert (tmp_path / "q.dlc.html").read_bytes() == first


def test_a_built_in_network(command: Command, tmp_path: Path) -> None:
    assert command("view conv1x1_8to4@3x3 -o page.html").code == 0
    assert data_of((tmp_path / "page.html").read_text())["network"] == "conv1x1_8to4@3x3"


def test_no_folder_is_reported(command: Command, tmp_path: Path) -> None:
    assert command(f"view {tmp_path}/q.dlc -o page.html").code == 0
    assert str(tmp_path) not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("runtime", ["dsp", pytest.param("aip", marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", ["q.dlc", pytest.param("squeezenet1_1", marks=pytest.mark.slow)])
def test_times_are_those_of_profile(
    command: Command, tmp_path: Path, model: str, runtime: str
) -> None:
    line = f"{model} --chip sd855 --runtime {runtime}"
    assert command(f"profile --chip sd835 {line} --json p.json").code == 0
    assert command(f"view {line} -o page.html").code == 0
    (profile,) = json.loads((tmp_path / "p.json").read_text())["results"]
    page = data_of((tmp_path / "page.html").read_text())
    times = [note for note in page["paints"][f"time on sd855 {runtime}"]["notes"] if note]
    assert times == [f"{figure(layer['us'])} us" for layer in profile["layers"]]


@pytest.mark.parametrize("model", ["q.dlc", "m.dlc"])
def test_errors_are_those_of_validate(command: Command, tmp_path: Path, model: str) -> None:
    dlc.write(tmp_path / "m.dlc", Model(culprits.quantized("outlier").network))
    for index, feed in enumerate(culprits.inputs(3)):
        feed["in"].tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n1.raw\n2.raw\n")
    line = f"{model} --chip sd855 --input-list list.txt"
    assert command(f"validate --chip sd835 {line} --json v.json").code == 0
    assert command(f"view {line} -o page.html").code == 0
    study = json.loads((tmp_path / "v.json").read_text())
    page = data_of((tmp_path / "page.html").read_text())
    worst: dict[str, float] = {}
    for row in study["layers"]:
        worst[row["layer"]] = min(row["sqnr_db"], worst.get(row["layer"], row["sqnr_db"]))
    notes = page["paints"]["error on sd855 dsp"]["notes"]
    painted = dict(zip((layer["name"] for layer in page["layers"]), notes, strict=True))
    assert {name: note for name, note in painted.items() if note} == {
        name: f"{figure(db)} dB" for name, db in worst.items()
    }
    is_file = model == "q.dlc"
    label = "SQNR against the file's own weights" if is_file else "SQNR of the outputs"
    assert page["answers"][1] == [label, f"{figure(study['output_sqnr_db'])} dB"]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("view q.dlc -o q.dlc", "would overwrite an input"),
        ("view x", "'x'"),
        ("view q.dlc --runtime dsp", "--runtime, --input-list, --images go with --chip"),
        ("view q.dlc --input-list list.txt", "--images go with --chip"),
        ("view q.dlc --calibration-list list.txt", "goes with inputs, which judge"),
        ("view q.dlc --chip sd85", "unknown chip 'sd85'"),
    ],
)
def test_refused(refused: Callable[[str], str], line: str, part: str) -> None:
    assert part in refused(line)
