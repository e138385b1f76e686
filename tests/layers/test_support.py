"""Every refusal is a rule with a sentence."""

from dataclasses import replace

import pytest

from hexsim.graph.input_format import InputFormat, InputType
from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import ColourConversion, Neuron, Opaque, Pad, Reshape, Softmax
from hexsim.layers.support import RULES, refusal
from hexsim.runtimes import RUNTIMES, Runtime


def _around(layer: Layer, shape: tuple[int, ...], dtype: str = "float32") -> Network:
    tensors = {"x": Tensor("x", shape, dtype=dtype), "y": Tensor("y", shape, dtype=dtype)}
    return Network("n", (layer,), tensors, {}, ("x",), ("y",))


IO = {"name": "l", "inputs": ("x",), "outputs": ("y",)}
OPAQUE = Opaque(**IO, op_type="Erf", node=b"", shapes=((2, 3),))
ELU = Neuron(**IO, function="elu", alpha=1.0)
SPATIAL_SOFTMAX = Softmax(**IO, axes=(1,))
SIX_AXES = Reshape(**IO, shape=(1,) * 6)


@pytest.mark.parametrize(
    ("layer", "shape", "refusing"),
    [
        (OPAQUE, (2, 3), {"gpu", "gpu_fp16", "dsp", "aip", "fxp_cpu"}),
        (ELU, (2, 3), {"dsp", "aip", "fxp_cpu"}),
        (SPATIAL_SOFTMAX, (1, 5, 4), {"dsp", "aip", "fxp_cpu"}),
        (Softmax(**IO, axes=(1,)), (1, 5), set()),
        (Pad(**IO, begins=(0, 1), ends=(1, 0)), (2, 3), {"gpu", "gpu_fp16"}),
        (SIX_AXES, (1,) * 6, {"gpu", "gpu_fp16", "dsp", "aip", "fxp_cpu"}),
        (Neuron(**IO, function="sigmoid"), (2, 3), set()),
    ],
)
def test_who_refuses_what(layer: Layer, shape: tuple[int, ...], refusing: set[Runtime]) -> None:
    network = _around(layer, shape)
    assert {r for r in RUNTIMES if refusal(layer, r, network)} == refusing


def test_integer_tensors_stay_on_the_cpu() -> None:
    layer = Reshape(**IO, shape=(2, 3))
    assert "float32" in (refusal(layer, "dsp", _around(layer, (2, 3), "int64")) or "")


@pytest.mark.parametrize(("kind", "word"), [("opaque", "opaque"), ("default", "NV21")])
def test_inputs_that_are_no_codes_stay_off_the_integer_runtimes(kind: InputType, word: str) -> None:
    layer = ColourConversion(**IO, input_encoding_in="nv21", input_encoding_out="bgr")
    tensors = {"x": Tensor("x", (1, 6, 4, 1)), "y": Tensor("y", (1, 4, 4, 3))}
    formats = {"x": InputFormat(kind, "nv21")}
    network = Network("n", (layer,), tensors, {}, ("x",), ("y",), formats)
    assert {r for r in RUNTIMES if refusal(layer, r, network)} == {"dsp", "aip", "fxp_cpu"}
    assert word in (refusal(layer, "dsp", network) or "")
    fine = replace(network, input_formats={"x": InputFormat("image", "nv21")})
    assert refusal(layer, "dsp", fine) is None


def test_every_rule_has_a_sentence_and_speaks_for_somebody() -> None:
    for rule in RULES:
        assert rule.runtimes
        assert len(rule.sentence.split()) > 3
        assert "cpu" not in rule.runtimes, "the CPU runtime is where everything else falls back to"
