"""Every runtime has one rule for a float and one for a quantised file under every stack.

Who computes with how many bits: a sentence with tensor, chip or stack, and the way out.
"""

import numpy as np
import pytest

from hexsim.datasheets import stacks
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc import Metadata, read, write
from hexsim.errors import HexsimError
from hexsim.lowering import lower
from hexsim.planning.load_rules import RULES, load_rule
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import RUNTIMES
from tests.dlc.made import small_network
from tests.int8 import naive
from tests.int8.single_layer import codes_of

FLOAT = ("cpu", "gpu", "gpu_fp16", "htp_fp16")


@pytest.mark.parametrize("name", stacks.names())
def test_who_loads_what(name: str) -> None:
    stack = stacks.load(name)
    for runtime in RUNTIMES:
        codes, floats = (load_rule(runtime, stack, quantized=q).effect for q in (True, False))
        assert codes == ("dequantise" if runtime in FLOAT else "native")
        if runtime != "dsp":
            assert floats == ("native" if runtime in FLOAT else "refuse")


def test_the_release_decides_about_floats_on_the_dsp() -> None:
    effects = {
        name: load_rule("dsp", stacks.load(name), quantized=False).effect
        for name in ("snpe-1.23", "snpe-1.30", "qnn-2.45")
    }
    assert effects == {"snpe-1.23": "quantise", "snpe-1.30": "quantise", "qnn-2.45": "refuse"}


def test_every_rule_has_a_sentence() -> None:
    assert all(len(rule.sentence.split()) > 4 for rule in RULES)


NETWORK = small_network()
INPUTS = [{"in": np.random.default_rng(1).standard_normal((1, 8, 8, 3), dtype=np.float32)}]


def _model(**options):
    return quantize(NETWORK, INPUTS, QuantizationOptions(**options))


def test_where_16_bit_activations_run():
    model = _model(activation_bits=16)
    for chip, stack, runtime in [
        ("sd865", None, "aip"),
        ("sd835", None, "fxp_cpu"),
        ("sd835", None, "cpu"),
        ("sd835", None, "gpu"),
    ]:
        deploy(model, Platform.load(chip, stack), runtime).executor().run(INPUTS[0])


@pytest.mark.parametrize(
    ("chip", "stack", "owner"),
    [
        ("sd835", None, "chip sd835"),
        ("sd855", "qnn-2.45", "chip sd855"),
        ("sd865", "snpe-1.30", "stack snpe-1.30"),
        ("sd865", "qnn-2.45", "stack qnn-2.45"),
    ],
)
def test_16_bit_activations_are_refused_elsewhere(chip, stack, owner):
    sentence = f"tensor 'in' has 16-bit activations, and dsp of {owner} computes with 8 bits"
    with pytest.raises(HexsimError, match=sentence):
        deploy(_model(activation_bits=16), Platform.load(chip, stack), "dsp")


@pytest.mark.parametrize("axis", [False, True])
def test_16_bit_weights_run_on_the_cpu_only(axis):
    model = _model(weight_bits=16, axis_weights=axis)
    with pytest.raises(HexsimError, match="has 16 bits, and on dsp no kernel multiplies by more"):
        deploy(model, Platform.load("sd865"), "dsp")
    deploy(model, Platform.load("sd855"), "fxp_cpu").executor().run(INPUTS[0])


@pytest.mark.parametrize("axis", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("chip", ["sd835", "sd855"])
def test_4_bit_weights_run_in_the_8_bit_kernels(axis, packed, chip, tmp_path):
    """Through a file, packed or not: the answers are those of the same codes as 8-bit weights."""
    model = _model(weight_bits=4, axis_weights=axis, pack_4_bit_weights=packed)
    write(tmp_path / "m.dlc", model, Metadata())
    stored = read(tmp_path / "m.dlc").model
    platform = Platform.load(chip)
    first, second = (deploy(m, platform, "dsp").executor().run(INPUTS[0]) for m in (model, stored))
    for name, value in first.items():
        assert np.array_equal(value, second[name])
        assert np.ptp(value) > 0


@pytest.mark.parametrize("axis", [False, True])
@pytest.mark.parametrize("chip", ["sd835", "sd855"])
def test_packed_weights_reach_the_kernels_as_the_reference_kernels_see_them(axis, chip, tmp_path):
    model = _model(weight_bits=4, axis_weights=axis, pack_4_bit_weights=True)
    write(tmp_path / "m.dlc", model, Metadata())
    stored = read(tmp_path / "m.dlc").model
    deployment = deploy(stored, Platform.load(chip), "dsp")
    (subnet,) = deployment.plan.subnets
    calls = tuple(lower(subnet, stored, signed_kernels=deployment.signed_kernels))
    codes = codes_of(subnet, calls, INPUTS[0])
    for call in calls:
        inputs = [codes[x.name] if x.codes is None else x.codes for x in call.inputs]
        np.testing.assert_array_equal(codes[call.output.name], naive.run(call, inputs))
    parameters = model.parameters.values()
    assert {encoding.bitwidth for encoding in parameters} == {4}


@pytest.mark.parametrize("chip", ["sd765", "sd865"])
def test_the_message_names_what_this_chip_has_for_16_bits(chip):
    model = _model(activation_bits=16)
    with pytest.raises(HexsimError, match=r"take runtime='aip', take stack='snpe-1.63', quantise"):
        deploy(model, Platform.load(chip), "dsp")
    deploy(model, Platform.load(chip), "aip")
    deploy(model, Platform.load(chip, "snpe-1.63"), "dsp")
