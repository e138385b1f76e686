"""`--no-weight-quantization`: encodings for everything, and weights that stay as they were."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hexsim import dlc
from hexsim.dlc import Metadata
from hexsim.quantization.model import Model
from tests.cli.conftest import Done
from tests.dlc.made import small_network

Command = Callable[[str], Done]

QUANTIZE = "quantize m.dlc --input-list list.txt"


@pytest.fixture
def files(command: Command, tmp_path: Path) -> None:
    """m.dlc, coded.dlc and float.dlc (with float weights), from three inputs."""
    dlc.write(tmp_path / "m.dlc", Model(small_network()), Metadata())
    rng = np.random.default_rng(3)
    for index in (1, 2, 3):
        rng.normal(0, index, (1, 8, 8, 3)).astype(np.float32).tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("1.raw\n2.raw\n3.raw\n")
    for line in (f"{QUANTIZE} -o coded.dlc", f"{QUANTIZE} -o float.dlc --no-weight-quantization"):
        assert command(line).code == 0


@pytest.mark.usefixtures("files")
def test_encodings_are_the_same_and_weights_those_of_the_float_file() -> None:
    source, coded, floats = (dlc.read(f"{name}.dlc") for name in ("m", "coded", "float"))
    assert floats.model.float_weights
    assert "no_weight_quantization=True" in floats.metadata.quantizer_command
    assert floats.model.activations == coded.model.activations
    assert floats.model.parameters == coded.model.parameters
    for name in floats.model.parameters:
        kept = floats.model.as_stored.constants[name].finite()
        np.testing.assert_array_equal(kept, source.model.network.constants[name].finite())
        np.testing.assert_array_equal(floats.model.codes(name), coded.model.codes(name))
        np.testing.assert_array_equal(
            floats.model.as_coded.constants[name].finite(),
            coded.model.as_stored.constants[name].finite(),
        )
    assert floats.model.weight_bytes > 3 * coded.model.weight_bytes


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("runtime", "like"), [("dsp", "coded"), ("cpu", "m")])
def test_who_computes_with_what(command: Command, tmp_path: Path, runtime: str, like: str) -> None:
    """A fixed-point runtime with the codes, a float one with the floats."""
    for name in ("float", like):
        line = f"run --chip sd835 {name}.dlc --input-list list.txt --runtime {runtime} -o {name}"
        assert command(line).code == 0
    raw_files = sorted(tmp_path.glob("float/Result_*/*.raw"))
    assert len(raw_files) == 3
    for path in raw_files:
        other = tmp_path / like / path.relative_to(tmp_path / "float")
        assert path.read_bytes() == other.read_bytes()


@pytest.mark.usefixtures("files")
def test_weights_are_quantised_when_the_dsp_loads_them(command: Command, tmp_path: Path) -> None:
    parts: dict[tuple[str, str], str] = {}
    for name in ("coded", "float"):
        for runtime in ("dsp", "cpu"):
            assert (
                command(f"profile --chip sd835 {name}.dlc --runtime {runtime} --json p.json").code
                == 0
            )
            parts[name, runtime] = json.dumps(json.loads((tmp_path / "p.json").read_text()))
    assert '"quantize"' in parts["float", "dsp"]
    assert '"quantize"' not in parts["coded", "dsp"]
    assert '"dequantize"' in parts["coded", "cpu"]
    assert '"dequantize"' not in parts["float", "cpu"]


def test_codes_that_are_not_there_cannot_be_packed(refused: Callable[[str], str]) -> None:
    dlc.write("m.dlc", Model(small_network()), Metadata())
    Path("list.txt").write_text("1.raw\n")
    message = refused(
        f"{QUANTIZE} --weights-bitwidth 4 --pack-4-bit-weights --no-weight-quantization -o q.dlc"
    )
    assert "packing is for codes of weights" in message
