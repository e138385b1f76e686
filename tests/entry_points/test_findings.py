"""What encodings lose is the same list through the API, a file, and the commands."""

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import hexsim
from hexsim.cli._signature import option
from hexsim.errors import spelling_as
from tests.cli.conftest import Done
from tests.conftest import make_model

Command = Callable[[str], Done]

SURVIVORS = (
    "of 50 values of 'scores' whose codes are not zero on the first calibration input, 4 survive "
    "in 'joined' of layer 'joining': they reach 8, and a step of 'joined' is 4; convert with the "
    "tensors before it as outputs (--out-name), or quantise with --act-bitwidth 16"
)
"""46 scores of 1, a quarter of a step, and 4 of 8; boxes of 1020 = 255 * 4."""
DEAD = (
    "2 of 4 output channels of layer 'dense' are dead, all their codes in weight 'w' stand for "
    "zero: in floats, weights of 1 of these reach 0.003; quantise with --axis-quant"
)
"""Weights of -1 to 1 have steps of 0.0078; channels reach 1, 0.003, 0 and 1."""


def _network() -> onnx.ModelProto:
    weight = np.zeros((50, 4), np.float32)
    weight[:3] = [[1, 0.003, 0, -1], [-1, 0.003, 0, 1], [1, 0, 0, 1]]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 50])
        for name in ("boxes", "scores")
    ]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("joined", "y")
    ]
    nodes = [
        helper.make_node("Concat", ["boxes", "scores"], ["joined"], name="joining", axis=1),
        helper.make_node("Gemm", ["scores", "w"], ["y"], name="dense"),
    ]
    constant = helper.make_tensor("w", TensorProto.FLOAT, [50, 4], weight.ravel())
    graph = helper.make_graph(nodes, "net", ends, outputs, [constant])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.fixture(autouse=True)
def feed(tmp_path: Path) -> dict[str, np.ndarray]:
    """float.dlc, and list.txt with an input for it, which is returned."""
    feed = {
        "boxes": np.full((1, 50), 1020, np.float32),
        "scores": np.array([[1.0] * 46 + [8.0] * 4], np.float32),
    }
    hexsim.save(hexsim.load(_network()), tmp_path / "float.dlc")
    for name, array in feed.items():
        array.tofile(tmp_path / f"{name}.raw")
    (tmp_path / "list.txt").write_text("boxes:=boxes.raw scores:=scores.raw\n")
    return feed


@pytest.fixture
def as_commands() -> Iterator[None]:
    """Python spells parameters as the commands do; otherwise each program has its own spelling."""
    with spelling_as(option):
        yield


def test_every_entry_point_tells_the_same(
    command: Command, tool: Command, feed: dict[str, np.ndarray], as_commands: None
) -> None:
    findings = hexsim.quantize(hexsim.load("float.dlc"), [feed]).findings
    assert [finding.sentence for finding in findings] == [SURVIVORS, DEAD]

    done = command("quantize float.dlc --input-list list.txt -o q.dlc --encodings-report r.json")
    assert _warnings(done) == [f"warning: {SURVIVORS}", f"warning: {DEAD}"]
    assert hexsim.load("q.dlc").findings == findings
    report = json.loads(Path("r.json").read_text())["findings"]
    assert [finding["sentence"] for finding in report] == [SURVIVORS, DEAD]

    for model in ("q.dlc", "float.dlc"):
        options = "--input-list list.txt --json v.json --html v.html"
        assert _warnings(command(f"validate --chip sd835 {model} {options}")) == _warnings(done)
        assert json.loads(Path("v.json").read_text())["findings"] == report
        assert "Values that the encodings lose for certain" in Path("v.html").read_text()

    theirs = tool(
        "snpe-dlc-quantize --input_dlc float.dlc --input_list list.txt --output_dlc s.dlc"
    )
    spelled = {"--out-name": "--out_node", "--act-bitwidth": "--act_bitwidth"}
    spelled["--axis-quant"] = "--axis_quant"
    lines = _warnings(done)
    for ours, other in spelled.items():
        lines = [line.replace(ours, other) for line in lines]
    assert _warnings(theirs, "[WARNING] ") == [
        line.replace("warning: ", "[WARNING] ", 1) for line in lines
    ]
    assert hexsim.load("s.dlc").findings == findings


COMMANDS = {
    "bench {0} --chip sd855 --input-list list.txt": "af",
    "bench {0} --chip sd855 --runtime dsp,aip --timing-only": "a",
    "decide {0} --chips sd855 --input-list list.txt --modes default --draws 0": "f",
    "validate {0} --chip sd855 --runtime aip --input-list list.txt": "af",
    "run {0} --chip sd855 --runtime dsp --input-list list.txt -o out": "f",
    "run {0} --chip sd855 --runtime aip --input-list list.txt -o out": "a",
    "decide {0} --files --chips sd855 --input-list list.txt": "af",
    "overview {0} --chip sd855 --runtime aip --no-uncertainty --input-list list.txt --html r": "af",
    "view {0} --chip sd855 --runtime aip --input-list list.txt -o v.html": "af",
    "profile {0} --chip sd855 --runtime aip": "a",
    "throughput {0} --chip sd855 --runtime aip --inferences 2": "a",
    "partition {0} --chip sd855": "a",
    "info {0} --chip sd855 --runtime aip": "a",
    "always-on {0} --chip sd855 --every 100": "a",
}
"""Each command, and the files that it tells of: one with sections for aip, a float one."""
OF_TIME = ("bench", "validate", "decide {0} --files", "overview", "view", "profile", "throughput")
"""Commands that time or run the sections of a file; so do `run`, `partition` and `info` on aip."""
TOOLS = {
    "snpe-net-run --container a.dlc --input_list list.txt --use_aip --chip sd855": True,
    "snpe-throughput-net-run --container a.dlc --use_aip --iterations 2 --chip sd855": True,
    "snpe-parallel-run --container a.dlc --input_list list.txt --use_dsp --chip sd855": False,
}
"""Tools of SNPE's, each with whether it runs on aip."""


@pytest.fixture
def dead(tmp_path: Path) -> list[np.ndarray]:
    """f.onnx with dead channels, a.dlc of it with sections that cost time, and inputs in x.txt."""
    rng = np.random.default_rng(0)
    weight = rng.normal(0.0, 1e-3, (6, 4, 3, 3))
    weight[4:] *= 1e3
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4)]
    onnx.save(make_model(nodes, {"x": [1, 4, 8, 8]}, ["y"], {"w": weight}), tmp_path / "f.onnx")
    feeds = [rng.standard_normal((1, 4, 8, 8), np.float32) for _ in range(4)]
    for index, array in enumerate(feeds):
        array.tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(4)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = hexsim.compile_hta(
            hexsim.quantize(hexsim.load(tmp_path / "f.onnx"), feeds), "sd855"
        )
    hexsim.save(model, tmp_path / "a.dlc")
    return feeds


@pytest.mark.usefixtures("dead")
@pytest.mark.parametrize(
    ("line", "files"),
    [
        pytest.param(*item, marks=[pytest.mark.slow] * item[0].startswith("overview"))
        for item in COMMANDS.items()
    ],
)
def test_every_command_tells_of_dead_channels_and_of_sections_that_cost_time(
    command: Command, line: str, files: str
) -> None:
    for file in files:
        done = command(line.format({"a": "a.dlc", "f": "f.onnx"}[file]))
        is_decided = line.startswith("decide") and "--files" not in line
        said = done.out if is_decided else "\n".join(_warnings(done))
        assert said.count("4 of 6 output channels of layer 'conv' are dead") == 1
        of_time = line.startswith(OF_TIME) or "aip" in line or line.startswith("partition")
        assert said.count("HTA section 1 makes aip of sd855 slower") == (of_time and file == "a")


@pytest.mark.usefixtures("dead")
def test_quantising_and_documents_tell_it_too(command: Command) -> None:
    done = command("quantize f.onnx --input-list list.txt --enable-hta --chip sd855 -o q.dlc")
    assert [line.split(":")[1].split(" of ")[0] for line in _warnings(done)] == [
        " HTA section 1 makes aip",
        " 4",
    ]
    plain = command("quantize f.onnx --input-list list.txt --chip sd855 -o q.dlc")
    assert _warnings(plain) == _warnings(done)[1:]
    command("bench a.dlc --chip sd855 --runtime dsp,aip --json b.json --html b.html")
    kinds = [
        [finding["kind"] for finding in result["findings"]]
        for result in json.loads(Path("b.json").read_text())["results"]
    ]
    assert kinds == [["dead channels"], ["slower sections", "dead channels"]]
    assert "HTA section 1 makes aip" in Path("b.html").read_text()
    line = "decide f.onnx --chips sd855 --runtime dsp --modes default,axis --draws 0"
    done = command(f"{line} --input-list list.txt --json d.json --html d.html")
    choices = json.loads(Path("d.json").read_text())["choices"]
    kinds = {c["mode"]: [finding["kind"] for finding in c["findings"]] for c in choices}
    assert kinds == {"default": ["dead channels"], "axis": []}
    assert "  default: 4 of 6 output channels of layer 'conv' are dead" in done.out
    assert "Lost for certain" in Path("d.html").read_text()


@pytest.mark.usefixtures("dead")
@pytest.mark.parametrize(("line", "on_aip"), TOOLS.items())
def test_the_tools_tell_it_too(tool: Command, line: str, on_aip: bool) -> None:
    warned = _warnings(tool(line), "[WARNING] ")
    assert ["dead" in text for text in warned] == [*[False] * on_aip, True]
    assert ["slower" in text for text in warned] == [*[True] * on_aip, False]


def test_the_api_warns(dead: list[np.ndarray], tmp_path: Path) -> None:
    floats, dead_channels = hexsim.load(tmp_path / "f.onnx"), "4 of 6 output channels"
    with pytest.warns(UserWarning, match=dead_channels) as warned:
        model = hexsim.quantize(floats, dead)
    assert Path(warned[0].filename) == Path(__file__)
    with pytest.warns(UserWarning, match="HTA section 1 makes aip") as warned:
        compiled = hexsim.compile_hta(model, "sd855")
    assert Path(warned[0].filename) == Path(__file__)
    with pytest.warns(UserWarning, match="HTA section 1 makes aip"):
        simulated = hexsim.simulate(compiled, "sd855", "aip")
    assert [finding.kind for finding in simulated.findings] == ["slower sections"]
    with pytest.warns(UserWarning, match=dead_channels):
        simulated = hexsim.simulate(floats, "sd855", "dsp", dead[0])
    assert [finding.kind for finding in simulated.findings] == ["dead channels"]
    with pytest.warns(UserWarning, match=dead_channels) as warned:
        benchmark = hexsim.benchmark(floats, "sd855", "dsp", inputs=dead)
    assert Path(warned[0].filename) == Path(__file__)
    assert [loss.kind for loss in benchmark.results[0].findings] == ["dead channels"]
    with pytest.warns(UserWarning, match=dead_channels) as warned:
        hexsim.profile(compiled, "sd855", "aip")
    assert len(warned) == 2
    with pytest.warns(UserWarning, match=dead_channels):
        answers = hexsim.run(model, dead, "sd855", "dsp")
    assert len(list(answers)) == len(dead)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hexsim.simulate(model, "sd855", "dsp").findings == (), "of times alone"
        assert hexsim.profile(floats, "sd8gen4", "htp").findings == (), "codes nobody runs"
        list(hexsim.run(model, dead, "sd855", "gpu"))


def _warnings(done: Done, level: str = "warning: ") -> list[str]:
    assert done.code == 0, done.err
    return [line for line in done.err.splitlines() if line.startswith(level)]
