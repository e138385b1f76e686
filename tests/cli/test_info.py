"""`hexsim info` lists layers, of a .dlc and of an ONNX file alike, also as snpe-dlc-info does."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import hexsim
from hexsim import dlc, models
from hexsim.dlc.archive import open_archive
from hexsim.quantization.model import Model
from hexsim.texts.figures import figure
from tests.accuracy import culprits
from tests.dlc.made import small_network, with_encodings

Command = Callable[[str], tuple[int, str, str]]


def test_a_converted_file_has_the_layers_of_its_source(command: Command, tmp_path: Path) -> None:
    models.export("conv1x1_8to4@5x5", tmp_path / "m.onnx")
    command("convert m.onnx")
    source, converted = (command(f"info {name} --layout snpe")[1] for name in ("m.onnx", "m.dlc"))
    rows = [[li for li in text.splitlines() if li.startswith("|")] for text in (source, converted)]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 5
    assert "Converter command: hexsim convert" in converted


def test_json_and_csv(command: Command, tmp_path: Path) -> None:
    dlc.write(tmp_path / "q.dlc", with_encodings(small_network(), axis=True))
    code, out, err = command("info q.dlc --json q.json --csv q.csv")
    assert (code, err) == (0, "")
    document = json.loads((tmp_path / "q.json").read_text())
    with (tmp_path / "q.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [layer["name"] for layer in document["layers"]] == [row["Name"] for row in rows]
    assert document["quantized"] is True
    assert document["total_macs"] == sum(layer["macs"] for layer in document["layers"])
    conv = document["layers"][1]
    assert conv["runtimes"] == ["aip", "dsp", "gpu", "cpu", "hta", "htp"]
    assert len(conv["encodings"]["weight"]["channels"]) == 4
    assert "weight encoding: axis: last, num_elements: 4" in rows[1]["Parameters"]
    assert rows[1]["Out Dims"] in out


def test_the_compact_form_has_the_times_of_a_chip(
    command: Command, refused: Callable[[str], str], tmp_path: Path
) -> None:
    dlc.write(tmp_path / "m.dlc", Model(culprits.network()))
    plain = command("info m.dlc")[1]
    assert plain.splitlines()[2].split()[-2:] == ["MACs", "parameters"]
    out = command("info m.dlc --chip sd855 --runtime cpu --json i.json")[1]
    assert command("profile m.dlc --chip sd855 --runtime cpu --json p.json")[0] == 0
    times = json.loads((tmp_path / "i.json").read_text())["times"]
    profile = json.loads((tmp_path / "p.json").read_text())
    (case,) = profile["results"]
    assert times["layers_us"] == {each["name"]: each["us"] for each in case["layers"]}
    for name, us in times["layers_us"].items():
        (line,) = (each for each in out.splitlines() if each.split()[1:2] == [name])
        assert line.split()[-1] == figure(us)
    assert f"an inference takes {figure(times['total_us'])} us" in out
    assert "us: on htp of sd8gen2" in command("info m.dlc --chip sd8gen2")[1]
    assert "give --chip too" in refused("info m.dlc --runtime cpu")


def test_no_weight_is_read(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    archive, data = open_archive(path), path.read_bytes()
    path.write_bytes(
        data[: archive.params_start + 8].ljust(archive.params_end, b"?")
        + data[archive.params_end :]
    )
    assert command("info m.dlc")[0] == 0


def test_input_dim_resizes(command: Command, tmp_path: Path) -> None:
    dlc.write(tmp_path / "m.dlc", Model(small_network()))
    assert "1x8x8x3" in command("info m.dlc")[1]
    code, _, err = command("info m.dlc --input-dim in 1,3,9,9")
    assert code == 2
    assert "its weights are for" in err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("info none.dlc", "no such file: 'none.dlc'"),
        ("info cut.dlc", "truncated"),
        ("info altered.dlc", "was altered"),
        ("info text.dlc", "not a ZIP archive"),
        ("info real.dlc", "Qualcomm"),
        ("bench --chip sd835 --model cut.dlc", "truncated"),
        ("profile --chip sd835 altered.dlc", "altered"),
        ("info good.dlc --json no/x.json", "cannot write 'no/x.json'"),
        ("info good.dlc --input-dim z 1,3,8,8", "unknown input of network 'sketch' 'z'"),
    ],
)
def test_mistakes(refused: Callable[[str], str], tmp_path: Path, line: str, sentence: str) -> None:
    dlc.write(tmp_path / "good.dlc", Model(small_network()))
    data = (tmp_path / "good.dlc").read_bytes()
    (tmp_path / "cut.dlc").write_bytes(data[: len(data) // 2])
    (tmp_path / "altered.dlc").write_bytes(data.replace(b'"sketch"', b'"Sketch"'))
    (tmp_path / "text.dlc").write_text("hello")
    (tmp_path / "real.dlc").write_bytes(b"\xd5\x0a\x03\0")
    assert sentence in refused(line)


def test_a_weight_altered_is_one_sentence(refused: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    data, archive = path.read_bytes(), open_archive(path)
    path.write_bytes(data[: archive.params_start] + b"?" + data[archive.params_start + 1 :])
    assert "is not what was written" in refused("bench --chip sd835 --model m.dlc --runtime cpu")


def test_a_chip_tells_what_becomes_of_the_weights(command: Command, tmp_path: Path) -> None:
    dlc.write(tmp_path / "q.dlc", culprits.quantized())
    dlc.write(tmp_path / "m.dlc", Model(culprits.network()))
    out = command("info q.dlc --chip sd855 --json i.json")[1]
    (*_, last) = json.loads((tmp_path / "i.json").read_text())["rescaled_weights"]
    assert (last["layer"], last["weight"]) == ("c3", "c3.w")
    assert "sd855 rescales asymmetric weights" in out
    assert out.rstrip().splitlines()[-1].split()[:2] == ["c3", "c3.w"]
    assert "sd835 rescales no weights at load" in command("info q.dlc --chip sd835")[1]
    assert "rescales" not in command("info m.dlc --chip sd855")[1]


def test_packed_weights_are_said_to_be_packed(command: Command, tmp_path: Path) -> None:
    model = hexsim.quantize(
        "conv1x1_8to8@4x4",
        options=hexsim.QuantizationOptions(weight_bits=4, pack_4_bit_weights=True),
    )
    hexsim.save(model, tmp_path / "m.dlc")
    lines = command(f"info {tmp_path / 'm.dlc'} --layout snpe").out.splitlines()
    (encoding,) = (line for line in lines if "weight encoding: " in line)
    assert "bitwidth 4" in encoding
    (origin,) = (line for line in lines if "weight encoding from: " in line)
    assert "packed: two codes in a byte" in origin
