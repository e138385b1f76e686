"""A file whose tensors all have encodings answers as onnxruntime does, through every entry point.

The encodings come in QDQ nodes or in a file of AIMET. What is one node in the file and several
layers here has them too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from tests.cli.conftest import Done
from tests.coded_networks import Array, CodedNetwork, answers, coded_network, sqnr_db
from tests.thorough import THOROUGH

OPTIONS = hexsim.QuantizationOptions(bias_bits=32)
"""A bias without an encoding, added to a product of codes, loses nothing."""
PLACES: dict[int, tuple[str, Runtime]] = {8: ("sd855", "dsp"), 16: ("sd8gen2", "htp")}
Command = Callable[[str], Done]


def loaded(net: CodedNetwork, form: str, folder: Path) -> tuple[Model, hexsim.Overrides | None]:
    """The model, and the overrides that are no part of its file."""
    floats, qdq, encodings = net.files(folder)
    if form == "QDQ":
        return hexsim.load(qdq), None
    return hexsim.load(floats), hexsim.read_overrides(encodings)


def least_db(net: CodedNetwork, want: Array) -> float:
    """The least agreement: onnxruntime's own answer may be far from that of the float network.

    Then one rounding more or less, or values at the end of a range, change as much.
    """
    (exact,) = answers(net.model, net.inputs[0]).values()
    own = sqnr_db(exact, want)
    return min(30.0, own - 5) if net.bits == 8 else min(60.0, own + 12)


def require_placed(net: CodedNetwork, model: Model, form: str, source: Model) -> None:
    """Each encoding is on the tensor that has the values, or is ignored with a reason."""
    assert source.provenance is not None
    outcomes = {outcome.key: outcome for outcome in model.overrides}
    assert not [o for o in outcomes.values() if o.outcome == "unmatched"]
    assert all(o.reason for o in outcomes.values() if o.outcome == "ignored")
    for name, (scale, zero) in net.coded.items():
        ends = (
            ("", "_raw", "_dq") if form == "QDQ" else ("",)
        )  # an end of the network, a lost clamp
        keys = [name + end for end in ends if name + end in outcomes]
        assert keys, f"nothing is said of the encoding of '{name}'"
        for key in keys:
            if outcomes[key].outcome == "applied" and outcomes[key].section == "activation":
                encoding = model.encoding(source.provenance.renamed.get(key, key))
                assert isinstance(encoding, Encoding)
                assert (encoding.bitwidth, encoding.offset) == (net.bits, -zero)
                assert encoding.delta == pytest.approx(scale)


@pytest.mark.parametrize("form", ["QDQ", "AIMET"])
@pytest.mark.parametrize("bits", PLACES)
@pytest.mark.parametrize("seed", range(40 if THOROUGH else 5))
def test_random_networks(seed: int, bits: int, form: str, tmp_path: Path) -> None:
    net = coded_network(seed, bits)
    source, overrides = loaded(net, form, tmp_path)
    model = hexsim.quantize(source, [feed["x"] for feed in net.inputs], OPTIONS, overrides)
    require_placed(net, model, form, source)
    assert {encoding.bitwidth for encoding in model.activations.values()} == {bits}
    said = " ".join(outcome.reason for outcome in model.overrides)
    for name, origin in model.origins.items():
        if origin.startswith("calibration"):
            assert f"'{name}'" in said or " more inside" in said, f"'{name}' is calibrated silently"
    (want,) = answers(net.qdq(), net.inputs[0]).values()
    (got,) = next(hexsim.run(model, [net.inputs[0]["x"]], *PLACES[bits])).values()
    assert sqnr_db(want, got) >= least_db(net, want)


@pytest.mark.parametrize("seed", range(40 if THOROUGH else 6))
def test_a_file_that_is_only_loaded(seed: int, tmp_path: Path) -> None:
    """Where no tensor inside an operator is left to be calibrated, the file's encodings are all."""
    net = coded_network(seed)
    source, _ = loaded(net, "QDQ", tmp_path)
    x = net.inputs[0]["x"]
    if any("calibrated" in o.reason for o in hexsim.quantize(source, [x]).overrides):
        return
    (want,) = answers(net.qdq(), net.inputs[0]).values()
    (got,) = next(hexsim.run(source, [x], *PLACES[8])).values()
    assert sqnr_db(want, got) >= least_db(net, want)


@pytest.mark.parametrize("seed", [0, 2, 3, 7])
def test_what_a_file_of_16_bits_leaves_out_loses_no_more(seed: int, tmp_path: Path) -> None:
    """Biases without codes, and tensors that onnxruntime's quantiser leaves in floats."""
    net = coded_network(seed, 16)
    written = [node.output[0] for node in net.model.graph.node]
    net = replace(net, biases={}, left_out=net.left_out | {written[-1], written[len(written) // 2]})
    source, _ = loaded(net, "QDQ", tmp_path)
    model = hexsim.quantize(source, [feed["x"] for feed in net.inputs])
    assert {encoding.bitwidth for encoding in model.activations.values()} == {16}
    (want,) = answers(net.qdq(), net.inputs[0]).values()
    (got,) = next(hexsim.run(model, [net.inputs[0]["x"]], *PLACES[16])).values()
    assert sqnr_db(want, got) >= least_db(net, want) - 5


@pytest.mark.parametrize("form", ["QDQ", "AIMET"])
@pytest.mark.parametrize("seed", [4, 12])
def test_every_entry_point_gives_this_answer(
    seed: int, form: str, tmp_path: Path, command: Command, tool: Command
) -> None:
    net = coded_network(seed)
    source, overrides = loaded(net, form, tmp_path)
    inputs = [feed["x"] for feed in net.inputs]
    model = hexsim.quantize(source, inputs, OPTIONS, overrides)
    (want,) = next(hexsim.run(model, inputs[:1], *PLACES[8])).values()
    tensors = source.network.tensors
    for number, x in enumerate(inputs):
        tensors["x"].from_source(x).tofile(tmp_path / f"in{number}.raw")
    (tmp_path / "list.txt").write_text("".join(f"in{n}.raw\n" for n in range(len(inputs))))
    name = source.network.outputs[0]

    def answer(folder: str) -> Array:
        raw = np.fromfile(tmp_path / folder / "Result_0" / f"{name}.raw", np.float32)
        return np.asarray(tensors[name].to_source(raw.reshape(tensors[name].shape)))

    given = "--quantization-overrides encodings.json" if form == "AIMET" else ""
    file = "float.onnx" if form == "AIMET" else "qdq.onnx"
    lines = [
        f"convert {file} {given} -o f.dlc",
        "quantize f.dlc --override-params --bias-bitwidth 32 --input-list list.txt -o q.dlc",
        "run q.dlc --chip sd855 --runtime dsp --input-list list.txt -o ran",
    ]
    for line in lines:
        assert command(line).code == 0, line
    np.testing.assert_array_equal(answer("ran"), want)
    line = "snpe-net-run --container q.dlc --use_dsp --enable_cpu_fallback --input_list list.txt"
    assert tool(f"{line} --output_dir tool").code == 0
    np.testing.assert_array_equal(answer("tool"), want)
