"""`hexsim validate` as typed: what it compares, what it writes, what it refuses."""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from PIL import Image

from hexsim import dlc
from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.validation import validate
from hexsim.api.model import compile_hta
from hexsim.deployment.offline_hta import prepared
from hexsim.deployment.platform import Platform
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.dlc.made import with_weights
from tests.small_networks import Sketch

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """m.dlc, and q.dlc made from it; list.txt and cal.txt with their raw files; labels.txt."""
    dlc.write(tmp_path / "m.dlc", Model(culprits.network("outlier")))
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    for name, feeds in (("list", culprits.inputs(4)), ("cal", culprits.inputs(3, seed=5))):
        for index, feed in enumerate(feeds):
            feed["in"].tofile(tmp_path / f"{name}{index}.raw")
        lines = (f"{name}{index}.raw\n" for index in range(len(feeds)))
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    (tmp_path / "labels.txt").write_text("1\n2\n3\n4\n")


@pytest.mark.parametrize(
    ("options", "calibration", "judging", "said"),
    [
        (
            "--input-list list.txt",
            culprits.inputs(4)[::2],
            culprits.inputs(4)[1::2],
            "the 1st, 3rd, ... of them: 2 inputs calibrate, 2 others judge",
        ),
        (
            "--input-list list.txt --calibration-list cal.txt",
            culprits.inputs(3, seed=5),
            culprits.inputs(4),
            "inputs of 'cal.txt': 3 inputs calibrate, 4 others judge",
        ),
        (
            "--input-list one.txt",
            culprits.inputs(1),
            culprits.inputs(1),
            "inputs of 'one.txt': 1 input calibrates and judges, which flatters; give more, or "
            "others with --calibration-list",
        ),
    ],
)
def test_the_inputs_that_calibrate_do_not_judge_unless_there_is_one(
    command: Command,
    tmp_path: Path,
    options: str,
    calibration: list[dict[str, np.ndarray]],
    judging: list[dict[str, np.ndarray]],
    said: str,
) -> None:
    (tmp_path / "one.txt").write_text("list0.raw\n")
    code, out, _ = command(f"validate --chip sd835 m.dlc {options} --json v.json")
    assert code == 0
    document = json.loads((tmp_path / "v.json").read_text())
    model = quantize(culprits.network("outlier"), calibration)
    expected = validate(deployed(model), judging)
    assert document["output_sqnr_db"] == pytest.approx(expected.output_sqnr_db)
    assert f"quantised with default options on {said}\n" in out


def test_all_options_at_once(command: Command, tmp_path: Path) -> None:
    code, out, _ = command(
        "validate --chip sd835 "
        "q.dlc --float m.dlc --input-list list.txt --labels labels.txt --layers "
        "--sensitivity --explain --runtime fxp_cpu --threads 2 --csv v.csv"
    )
    assert code == 0
    assert "broken on the CPU (fxp_cpu) of sd835, 8 bits as the file has them: 4 inputs" in out
    assert "float reference: 'm.dlc'" in out
    assert "top-5: float" in out
    assert "dominates: range outlier channel. channel 3 of weight 'c2.w'" in out
    assert len((tmp_path / "v.csv").read_text().splitlines()) == 1 + 6


def test_seeded_inputs_are_said_to_be(command: Command) -> None:
    code, out, _ = command("validate --chip sd835 m.dlc --explain")
    assert code == 0
    assert "seeded inputs, on which classes mean nothing" in out
    assert "quantised with default options on 8 seeded inputs" in out
    assert "top-1" not in out


@pytest.mark.parametrize(
    ("who", "labels"),
    [
        ("--workers 1", "--labels labels.txt --explain --layers"),
        pytest.param("--distributed --workers 2", "", marks=pytest.mark.slow),
    ],
)
def test_workers_give_the_same_report(
    command: Command, tmp_path: Path, who: str, labels: str
) -> None:
    line = (
        "validate --chip sd835 "
        f"q.dlc --float m.dlc --input-list list.txt {labels} --json v.json --csv v.csv"
    )
    reports = []
    for options in ("", who):
        code, out, _ = command(f"{line} {options}")
        assert code == 0
        reports.append((out, (tmp_path / "v.json").read_bytes(), (tmp_path / "v.csv").read_bytes()))
    assert reports[0] == reports[1]


@pytest.mark.slow
def test_a_scheduler_of_ones_own(command: Command, tmp_path: Path) -> None:
    """Its worker has two threads and is in another folder than the inputs."""
    (tmp_path / "elsewhere").mkdir()
    line = (
        "validate --chip sd835 "
        "q.dlc --float m.dlc --input-list list.txt --labels labels.txt --json v.json"
    )
    code, out, _ = command(line)
    alone = (tmp_path / "v.json").read_bytes()
    import distributed  # slow to import, in every worker that collects

    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        dashboard_address=None,
        silence_logs=50,
        preload=f"import os; os.chdir({str(tmp_path / 'elsewhere')!r})",
    ) as cluster:
        done = command(f"{line} --scheduler {cluster.scheduler_address}")
        assert done[:2] == (code, out)
        assert (tmp_path / "v.json").read_bytes() == alone
        (tmp_path / "list1.raw").write_bytes(np.full((1, 8, 8, 8), np.nan, np.float32).tobytes())
        code, out, err = command(f"{line} --scheduler {cluster.scheduler_address}")
    assert (code, out) == (2, "")
    assert "line 2: " in err
    assert "NaN values" in err


@pytest.mark.slow
def test_a_scheduler_alone_needs_dask(
    command: Command, refused: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = refused("validate --chip sd835 q.dlc --scheduler tcp://127.0.0.1:9")
    assert "--scheduler needs distributed (distributed is missing); pip install" in said
    assert "[sweep]" in said
    assert command("validate --chip sd835 q.dlc --workers 1")[0] == 0


def test_the_chip_chooses_the_kernels(command: Command, tmp_path: Path) -> None:
    model, sqnrs_db = culprits.quantized("outlier"), []
    for chip in ("sd835", "sd855"):
        line = f"validate q.dlc --float m.dlc --input-list list.txt --chip {chip} --json v.json"
        assert command(line)[0] == 0
        document = json.loads((tmp_path / "v.json").read_text())
        expected = validate(deployed(model, "dsp", chip), culprits.inputs(4))
        sqnrs_db.append(document["output_sqnr_db"])
        assert sqnrs_db[-1] == pytest.approx(expected.output_sqnr_db, abs=1e-6)
    assert sqnrs_db[0] != sqnrs_db[1]


def test_a_float_runtime_quantizes_nothing(command: Command) -> None:
    code, out, _ = command("validate --chip sd835 q.dlc --runtime gpu --input-list list.txt")
    assert code == 0
    assert "gpu computes in floats" in out
    assert "weights, which are rounded already" in out


def test_a_float_runtime_has_the_constants_of_a_quantized_file(
    command: Command, tmp_path: Path
) -> None:
    code, out, _ = command(
        "validate --chip sd835 "
        "q.dlc --float m.dlc --runtime cpu --input-list list.txt --json v.json"
    )
    assert code == 0
    assert "cpu computes in floats, with constants as the file holds them" in out
    read = dlc.read(tmp_path / "q.dlc").model
    expected = Distance()
    engines = [FloatEngine(network) for network in (culprits.network("outlier"), read.network)]
    for feed in culprits.inputs(4):
        expected.add(*(engine.run(feed)["scores"] for engine in engines))
    document = json.loads((tmp_path / "v.json").read_text())
    assert document["output_sqnr_db"] == pytest.approx(expected.sqnr_db)
    assert expected.sqnr_db < 60.0


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("m.dlc --labels labels.txt", "give both"),
        ("m.dlc --input-list cal.txt --labels labels.txt", "has 4 labels for 3 inputs"),
        ("m.dlc --input-list none.txt", "cannot read input list"),
        ("m.dlc --part judge", "--part is of --input-list or --images"),
        ("m.dlc --runtime cpu --explain", "computes in floats"),
        ("m.dlc --runtime cpu --calibration-list cal.txt", "computes in floats"),
        ("m.dlc --runtime npu", "unknown runtime 'npu'"),
        ("m.dlc --runtime aip", "aip"),
        ("m.dlc --float m.dlc", "--float goes with a quantised model"),
        ("q.dlc --float q.dlc", "is quantised already"),
        ("q.dlc --float other.dlc", "is not the one that"),
        ("q.dlc --calibration-list cal.txt", "is quantised already"),
        ("m.dlc --json no/v.json", "cannot write 'no/v.json'"),
        ("m.dlc --workers 1 --scheduler tcp://127.0.0.1:9", "leave it out with --scheduler"),
        ("m.dlc --scheduler nowhere", "no scheduler answers at 'nowhere'"),
        ("none.dlc", "no such file"),
    ],
)
def test_mistakes(refused: Callable[[str], str], tmp_path: Path, line: str, sentence: str) -> None:
    net = Sketch((1, 8, 8, 8))
    dlc.write(tmp_path / "other.dlc", Model(net.network(net.pool("in"))))
    assert sentence in refused(f"validate --chip sd835 {line}")


@pytest.fixture
def pictures(tmp_path: Path) -> None:
    """rgb.dlc takes 8x8 pictures of three channels; photos has two, named in named.txt."""
    (tmp_path / "photos").mkdir()
    for index, name in enumerate(("b.png", "a.png")):
        pixels = np.random.default_rng(index).integers(0, 256, (9, 12, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / name)
    (tmp_path / "named.txt").write_text("b.png 2\na.png,1\n")
    net = Sketch((1, 8, 8, 3))
    network = with_weights(net.network(net.dense(net.conv("in", 4, 3), 10)))
    dlc.write(tmp_path / "rgb.dlc", Model(network))


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize("dims", ["", "--input-dim in 3,3,8,8"])
def test_pictures_with_named_labels(command: Command, tmp_path: Path, dims: str) -> None:
    code, out, _ = command(
        "validate --chip sd835 "
        f"rgb.dlc --images photos --labels named.txt --mean 128 --std 64,64,64 "
        f"--channel-order bgr --fit stretch --json v.json {dims}"
    )
    assert code == 0
    assert "2 pictures of 'photos'" in out
    assert ("applying padding" in out) is bool(dims)
    hits = json.loads((tmp_path / "v.json").read_text())["hits"]
    judging = 2 if dims else 1  # of one batch, nothing is left to calibrate
    assert (hits["inputs"], hits["float_top5"] <= 2) == (judging, True)


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--images none", "cannot read folder 'none'"),
        ("--images photos --input-list list.txt", "leave one out"),
        ("--images photos --std 0", "would divide by zero"),
        ("--images photos --std 1,2", "--std has 2 values"),
        ("--images photos --mean a", "--mean 'a' is not a number"),
        ("--mean 3", "are for pictures"),
        ("--images photos --labels labels.txt", "has 4 labels for 2 inputs"),
    ],
)
def test_mistakes_with_pictures(refused: Callable[[str], str], options: str, sentence: str) -> None:
    assert sentence in refused(f"validate --chip sd835 rgb.dlc {options}")


@pytest.mark.slow
def test_sections_of_the_file_run_on_the_tensor_engine_of_their_chip(
    command: Command, tmp_path: Path
) -> None:
    """Every layer is in a section, so nothing is rescaled: as kernels for unsigned weights do."""
    model = dlc.read(tmp_path / "q.dlc").model
    dlc.write(tmp_path / "h.dlc", compile_hta(model, "sd855", "0-5"))
    unsigned, rescaled = (
        validate(deployed(model, "aip", chip), culprits.inputs(4)).output_sqnr_db
        for chip in ("sd835", "sd855")
    )
    assert unsigned != rescaled
    line = "validate {} --input-list list.txt --runtime {} --chip {} --json v.json"
    for options, expected in (
        (("h.dlc", "aip", "sd855"), unsigned),
        (("q.dlc", "aip", "sd855"), rescaled),
        (("h.dlc", "dsp", "sd855"), rescaled),
        (("h.dlc", "aip", "sd865"), rescaled),
    ):
        assert command(line.format(*options) + " --sensitivity --explain")[0] == 0
        document = json.loads((tmp_path / "v.json").read_text())
        assert document["output_sqnr_db"] == pytest.approx(expected, abs=1e-9), options


def test_what_is_quantized_here_for_aip_gets_no_sections_that_cost_time(
    command: Command, tmp_path: Path
) -> None:
    model = quantize(culprits.network("outlier"), culprits.inputs(4))
    expected = [
        validate(deployed(model, "aip", chip), culprits.inputs(4)).output_sqnr_db
        for chip in ("sd835", "sd855")
    ]
    assert expected[0] != expected[1]
    dlc.write(tmp_path / "hta.dlc", prepared(model, Platform.load("sd855"), "aip"))
    sqnrs_db = []
    for options, layers in (
        ("hta.dlc --float m.dlc", "5 of 5"),
        ("m.dlc --calibration-list list.txt", "0 of 5"),
    ):
        line = f"validate {options} --input-list list.txt --runtime aip --chip sd855"
        code, out, _ = command(f"{line} --json v.json")
        assert code == 0
        assert f"{layers} layers on the tensor engine" in out
        assert ("no HTA section: SNPE's compiler makes" in out) == (layers == "0 of 5")
        sqnrs_db.append(json.loads((tmp_path / "v.json").read_text())["output_sqnr_db"])
    assert sqnrs_db == pytest.approx(expected, abs=1e-9)


def test_top_1_is_judged_only_where_classes_are_scored(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("validate --chip sd835 dronet_112 --json out.json")
    assert code == 0
    assert "dronet_112 scores no classes, so it has no top-1." in out
    assert "winner" not in out
    hits = json.loads((tmp_path / "out.json").read_text())["hits"]
    assert [key for key, count in hits.items() if count is not None] == ["inputs"]
    code, out, _ = command("validate --chip sd835 q.dlc --json out.json")
    assert code == 0
    assert "same winner as float: " in out
    assert json.loads((tmp_path / "out.json").read_text())["hits"]["same_top1"] is not None


@pytest.mark.parametrize("number", [-np.inf, -1e4, float(np.finfo(np.float32).min)])
def test_a_mask_is_capped_without_blame_or_warning(
    number: float, command: Command, onnx_model: Callable[..., onnx.ModelProto], tmp_path: Path
) -> None:
    nodes = [
        onnx.helper.make_node("Add", ["x", "m"], ["a"]),
        onnx.helper.make_node("Softmax", ["a"], ["p"], axis=-1),
        onnx.helper.make_node("MatMul", ["p", "v"], ["y"]),
    ]
    rows = (1, 2, 6, 6)
    constants = {"m": np.where(np.tri(6), 0, number).astype("f")}
    onnx.save(onnx_model(nodes, {"x": rows, "v": rows}, ["y"], constants), tmp_path / "mask.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        code, out, err = command("validate --chip sd835 mask.onnx --json v.json")
        assert (code, err) == (0, "")
    assert "the mask 'm' was capped at -1" in out
    document = json.loads((tmp_path / "v.json").read_text())
    assert document["output_sqnr_db"] > 30
    code, out, err = command("quantize mask.onnx --seeded-inputs -o masked.dlc")
    assert code == 0
    assert "the mask 'm' was capped at -1" in err
    assert "beyond it nothing that reads it changes, at 8 and at 16 bits" in err
