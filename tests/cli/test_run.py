"""`hexsim run` as typed: the files it writes, what it prints, what it refuses."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hexsim import dlc
from hexsim.api.model import compile_hta
from hexsim.inputs.seeded import EVALUATION_INPUTS
from hexsim.quantization.model import Model
from hexsim.reports.trace import trace_json
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.small_networks import Sketch

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """m.dlc, and q.dlc made from it; list.txt with its raw files."""
    dlc.write(tmp_path / "m.dlc", Model(culprits.network("outlier")))
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    for index, feed in enumerate(culprits.inputs(3)):
        feed["in"].tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n\n1.raw\n2.raw\n")


def _executor(path, runtime):
    model = dlc.read(path).model
    return model, deployed(model, runtime).executor()


@pytest.mark.parametrize("runtime", ["dsp", "cpu"])
def test_each_line_has_its_result(command: Command, tmp_path: Path, runtime: str) -> None:
    code, out, err = command(f"run --chip sd835 q.dlc --input-list list.txt --runtime {runtime}")
    assert (code, err) == (0, "")
    model, executor = _executor(tmp_path / "q.dlc", runtime)
    summary = re.fullmatch(
        rf"broken on the \w+ \({runtime}\) of sd835, .*\nwrote 3 results into output, "
        r"(\S+) (us|ms) for an inference as simulated; took \d+\.\d s here\n",
        out,
    )
    assert summary, out
    simulated = deployed(model, runtime, "sd835").simulate().total_us
    assert float(summary[1]) * {"us": 1, "ms": 1000}[summary[2]] == pytest.approx(
        simulated, rel=1e-3
    )
    for index, feed in enumerate(culprits.inputs(3)):
        for name, array in executor.run(feed).items():
            written = np.fromfile(tmp_path / f"output/Result_{index}/{name}.raw", "<f4")
            np.testing.assert_array_equal(written, array.ravel())
    assert len(list((tmp_path / "output").rglob("*.raw"))) == 3 * len(model.network.outputs)


def test_the_list_asks_for_layers_and_tensors(command: Command, tmp_path: Path) -> None:
    network = culprits.network("outlier")
    first, second, third = network.layers[:3]
    (tmp_path / "list.txt").write_text(f"#{first.name}\n%{second.output}\n0.raw\n")
    done = command(
        "run --chip sd835 "
        f"q.dlc --input-list list.txt -o there --set-output-tensors {third.output},in"
    )
    assert done[0] == 0
    written = {path.relative_to(tmp_path / "there").as_posix() for path in
               (tmp_path / "there").rglob("*.raw")}  # fmt: skip
    names = (first.output, second.output, third.output, "in")
    assert written == {f"Result_0/{name}.raw" for name in names}


def test_debug_writes_every_layer(command: Command, tmp_path: Path) -> None:
    assert command("run --chip sd835 q.dlc --input-list list.txt --debug")[0] == 0
    names = [name for layer in culprits.network("outlier").layers for name in layer.outputs]
    for index in range(3):
        assert all((tmp_path / f"output/Result_{index}/{name}.raw").exists() for name in names)


def test_dsp_quantizes_a_float_model_at_load(command: Command, tmp_path: Path) -> None:
    assert command("run --chip sd835 m.dlc --input-list list.txt -o d")[0] == 0
    assert command("run --chip sd835 m.dlc --input-list list.txt -o c --runtime cpu")[0] == 0
    (name,) = culprits.network("outlier").outputs
    on_dsp, on_cpu = (np.fromfile(tmp_path / f"{f}/Result_0/{name}.raw", "<f4") for f in "dc")
    assert not np.array_equal(on_dsp, on_cpu)
    assert np.corrcoef(on_dsp, on_cpu)[0, 1] > 0.9


def test_pictures(command: Command, tmp_path: Path) -> None:
    net = Sketch((1, 2, 2, 3))
    dlc.write(tmp_path / "p.dlc", Model(net.network(net.pool("in", kernel=1))))
    (tmp_path / "photos").mkdir()
    for index, shade in enumerate((7, 9)):
        Image.new("RGB", (4, 4), (shade, shade, shade)).save(tmp_path / f"photos/{index}.png")
    code, out, _ = command("run --chip sd835 p.dlc --images photos --mean 1 --runtime cpu")
    assert code == 0
    assert " on the CPU (cpu) of sd835, float32\nwrote 2 results into output, " in out
    (raw,) = (tmp_path / "output/Result_1").iterdir()
    assert set(np.fromfile(raw, "<f4")) == {8}


def test_without_inputs_seeded_ones_are_run(command: Command, tmp_path: Path) -> None:
    """They are those that bench compares answers on, and a batch of them is one result."""
    code, out, err = command("run --chip sd835 m.dlc --runtime cpu")
    assert (code, err) == (0, "")
    assert f"\nwrote {EVALUATION_INPUTS} results" in out
    assert len(list((tmp_path / "output").iterdir())) == EVALUATION_INPUTS
    assert command("run --chip sd835 m.dlc --runtime cpu --input-dim in 3,8,8,8 -o more")[0] == 0
    single, three = ((tmp_path / name / "Result_0") for name in ("output", "more"))
    (small,), (large,) = single.iterdir(), three.iterdir()
    assert large.stat().st_size == 3 * small.stat().st_size


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--input-list none.txt", "cannot read input list 'none.txt'"),
        ("--input-list list.txt --set-output-tensors nope", "unknown tensor 'nope'"),
        ("--input-list list.txt --debug --runtime aip --chip sd855", "--debug is not for aip"),
        ("--input-list list.txt --mean 3", "are for pictures"),
        ("--input-list list.txt -o q.dlc", "cannot make folder 'q.dlc'"),
        ("--input-list list.txt --trace q.dlc", "'q.dlc' would overwrite an input"),
        ("--input-list list.txt --trace no/t.json", "no such folder"),
        ("--input-list list.txt --runtime npu", "unknown runtime 'npu'"),
    ],
)
def test_refusals(command: Command, options: str, sentence: str) -> None:
    code, _, err = command(f"run --chip sd835 q.dlc {options}")
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1


def test_a_stack_that_takes_no_floats_gets_codes(command: Command, tmp_path: Path) -> None:
    """The same as of a file that is quantised on the inputs, and the first line says so."""
    line = "run {}.dlc --input-list list.txt --chip sd835 --stack qnn-2.45 -o {}"
    code, out, _ = command(line.format("m", "here"))
    assert (code, out.splitlines()[0]) == (
        0,
        "broken on the DSP (dsp) of sd835, 8 bits, calibrated on the inputs that are run",
    )
    assert command("quantize m.dlc --input-list list.txt -o s.dlc")[0] == 0
    assert command(line.format("s", "file"))[0] == 0
    files = [sorted((tmp_path / name).rglob("*.raw")) for name in ("here", "file")]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]


@pytest.mark.parametrize("runtime", ["dsp", "cpu"])
def test_threads_change_nothing(command: Command, tmp_path: Path, runtime: str) -> None:
    for threads in (1, 3):
        options = f"--runtime {runtime} --threads {threads} -o t{threads}"
        assert command(f"run --chip sd835 q.dlc --input-list list.txt {options}")[0] == 0
    serial, three = (sorted((tmp_path / f"t{threads}").rglob("*.raw")) for threads in (1, 3))
    assert len(serial) == 3
    for alone, shared in zip(serial, three, strict=True):
        assert alone.read_bytes() == shared.read_bytes()


@pytest.mark.parametrize("runtime", ["dsp", "aip", "cpu"])
def test_the_trace_is_the_simulation_of_the_same_plan(
    command: Command, tmp_path: Path, runtime: str
) -> None:
    model = compile_hta(dlc.read(tmp_path / "q.dlc").model, "sd855", "0-3")
    dlc.write(tmp_path / "h.dlc", model)
    line = f"run h.dlc --input-list list.txt --chip sd855 --runtime {runtime}"
    assert command(f"{line} --trace t.json")[0] == 0
    timing = deployed(model, runtime, "sd855").simulate(recorded=True)
    name = f"{model.name} on sd855 {runtime}"
    text = (tmp_path / "t.json").read_text()
    assert text == trace_json([(name, timing)])
    assert ("hta array" in text) == (runtime == "aip")
    assert len(list((tmp_path / "output").rglob("*.raw"))) == 3


def test_tensors_that_are_asked_for_are_outputs_of_the_trace(
    command: Command, tmp_path: Path
) -> None:
    line = "run q.dlc --input-list list.txt --chip sd855 --trace"
    assert command(f"{line} plain.json")[0] == 0
    assert command(f"{line} debug.json --debug")[0] == 0
    plain, debug = ((tmp_path / f"{name}.json").read_text() for name in ("plain", "debug"))
    assert "c0.out" in debug
    assert "c0.out" not in plain
