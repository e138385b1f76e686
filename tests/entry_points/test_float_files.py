"""A float file, quantised at load or not at all, answers and takes as long by every entry point."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim import dlc
from hexsim.cli._signature import option
from hexsim.errors import HexsimError, spelling_as
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from hexsim.timing.picoseconds import PS_PER_US
from tests.cli.conftest import Done
from tests.entry_points.examples import Example, examples
from tests.entry_points.places import STACK, Place, deployment, feed
from tests.thorough import paired

KINDS = ("Convolution of 1 groups", "Elementwise product 1x6x7x8 full", "Opaque Erf 1x6x7x8")
KINDS += ("Opaque sized by values", "Softmax masked by -inf", "Softmax masked by -10000")
CHOSEN = [example for example in examples() if str(example) in KINDS]


def test_the_examples_exist() -> None:
    assert [str(example) for example in CHOSEN] == list(KINDS)


@pytest.mark.parametrize(("example", "runtime"), paired(CHOSEN, ("cpu", "gpu", "dsp"), 1), ids=str)
def test_entry_points_agree(
    example: Example, runtime: Runtime, command: Callable[[str], Done], tmp_path: Path
) -> None:
    dlc.write(tmp_path / "m.dlc", Model(example.network))
    x = feed(example)
    (tmp_path / "x.raw").write_bytes(x["x"].tobytes())
    (tmp_path / "list.txt").write_text("x.raw\n")
    deployed = deployment(Model(example.network), Place("sd835", runtime)).run_on(lambda: [x])
    expected, time_us = deployed.executor().run(x)["y"], deployed.simulate().total_ps / PS_PER_US

    done = hexsim.simulate(tmp_path / "m.dlc", "sd835", runtime, x["x"], stack=STACK)
    assert done.outputs is not None
    np.testing.assert_array_equal(done.outputs["y"], expected, "hexsim.simulate")
    assert done.total_us == time_us

    where = f"--chip sd835 --stack {STACK} --runtime {runtime}"
    assert command(f"run --chip sd835 m.dlc {where} --input-list list.txt -o out").code == 0
    written = np.fromfile(tmp_path / "out" / "Result_0" / "y.raw", np.float32)
    np.testing.assert_array_equal(written, expected.reshape(-1), "run")

    assert command(f"bench --chip sd835 --model m.dlc {where} --json b.json").code == 0
    assert command(f"profile --chip sd835 m.dlc {where} --json p.json").code == 0
    assert command(f"throughput --chip sd835 m.dlc {where} --inferences 1 --json t.json").code == 0
    for name in ("b.json", "p.json"):
        (result,) = json.loads((tmp_path / name).read_text())["results"]
        assert result["total_inference_us"] == time_us, name
    assert json.loads((tmp_path / "t.json").read_text())["total"]["elapsed_us"] == time_us


def test_every_entry_point_refuses_what_loads_codes_only(
    command: Callable[[str], Done], tmp_path: Path
) -> None:
    """The CPU's fixed-point runtime has no quantiser of its own."""
    example = CHOSEN[0]
    dlc.write(tmp_path / "m.dlc", Model(example.network))
    (tmp_path / "x.raw").write_bytes(feed(example)["x"].tobytes())
    (tmp_path / "list.txt").write_text("x.raw\n")
    as_commands = spelling_as(option)  # sentences spell parameters as the program in use
    with as_commands, pytest.raises(HexsimError, match="is float and fxp_cpu") as refused:
        hexsim.profile(tmp_path / "m.dlc", "sd835", "fxp_cpu", quantize=False)
    where = "--chip sd835 --runtime fxp_cpu"
    for line in (
        f"bench --chip sd835 --model m.dlc {where} --no-quantize",
        f"profile --chip sd835 m.dlc {where} --no-quantize",
        f"throughput --chip sd835 m.dlc {where} --no-quantize",
    ):
        done = command(line)
        assert (done.code, done.out) == (2, ""), line
        assert str(refused.value) in done.err, line
