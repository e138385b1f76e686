"""Every refusal is a rule with a sentence."""

from dataclasses import replace

import pytest

from hexsim.datasheets import operators
from hexsim.datasheets.operators import Operators
from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.graph.network_ends import InputFormat, InputType
from hexsim.layers import (
    TYPES,
    ArgExtremum,
    ColourConversion,
    Concat,
    Deconvolution,
    DepthToSpace,
    Elementwise,
    Gather,
    LocalResponseNorm,
    Neuron,
    Normalization,
    Opaque,
    Pad,
    Permute,
    Pooling,
    Recurrent,
    Reshape,
    Resize,
    Softmax,
    SpaceToDepth,
    Window,
)
from hexsim.layers.support import RULES, refusal
from hexsim.runtimes import RUNTIMES, LayerTarget, Runtime


def _around(layer: Layer, shape: tuple[int, ...], dtype: str = "float32") -> Network:
    tensors = {"x": Tensor("x", shape, dtype=dtype), "y": Tensor("y", shape, dtype=dtype)}
    return Network("n", (layer,), tensors, {}, ("x",), ("y",))


IO = {"name": "l", "inputs": ("x",), "outputs": ("y",)}
OPAQUE = Opaque(**IO, op_type="Erf", node=b"", shapes=((2, 3),))
INTEGERS = {"dsp", "aip", "fxp_cpu"}
"""Runtimes in codes of which a table of operators speaks; none does of the tensor processors."""
HTP = {"htp", "htp_fp16"}
ELU = Neuron(**IO, function="elu", alpha=1.0)
QNN = Operators.of("qnn-2")
SPATIAL_SOFTMAX = Softmax(**IO, axes=(1,))
SPARSE = Deconvolution(**IO, weight="w", window=Window((2, 2), (3, 2)), output_channels=8)
LARGER = Resize(**IO, kind="bilinear", scales=(2.0, 2.0))
SIX_AXES = Reshape(**IO, shape=(1,) * 6)


@pytest.mark.parametrize(
    ("layer", "shape", "refusing"),
    [
        (OPAQUE, (2, 3), {*RUNTIMES} - {"cpu"}),
        (ELU, (2, 3), INTEGERS),
        (Neuron(**IO, function="sqrt"), (2, 3), set()),
        (Neuron(**IO, function="gelu"), (2, 3), {"gpu", "gpu_fp16"}),
        (Neuron(**IO, function="silu"), (2, 3), set()),
        (Neuron(**IO, function="ceil"), (2, 3), {"gpu", "gpu_fp16"}),
        (Neuron(**IO, function="sin"), (2, 3), INTEGERS),
        (Neuron(**IO, function="erf"), (2, 3), {*RUNTIMES} - {"cpu"} - HTP),
        (SPATIAL_SOFTMAX, (1, 5, 4), INTEGERS | {"htp"}),
        (Softmax(**IO, axes=(1,)), (1, 5), set()),
        (Pad(**IO, begins=(0, 1), ends=(1, 0)), (2, 3), {"gpu", "gpu_fp16"}),
        (SPARSE, (1, 4, 4, 8), {"gpu", "gpu_fp16"}),
        (LARGER, (1, 4, 4, 8), set()),
        (SIX_AXES, (1,) * 6, {*RUNTIMES} - {"cpu"}),
        (Neuron(**IO, function="sigmoid"), (2, 3), set()),
        (Neuron(**IO, function="sigmoid"), (), set()),
        (Neuron(**IO, function="sigmoid"), (2, 0), {*RUNTIMES} - {"cpu"}),
    ],
)
def test_who_refuses_what(layer: Layer, shape: tuple[int, ...], refusing: set[Runtime]) -> None:
    network = _around(layer, shape)
    assert {r for r in RUNTIMES if refusal(layer, r, network)} == refusing


@pytest.mark.parametrize(
    "layer",
    [
        ELU,
        DepthToSpace(**IO, block=2, mode="DCR"),
        SpaceToDepth(**IO, block=2),
        Pad(**IO, begins=(0, 1, 1, 0), ends=(0, 1, 1, 0)),
        Gather(**IO, axis=1, indices=(0, 2)),
    ],
    ids=lambda layer: layer.type,
)
def test_qnn_takes_what_releases_before_it_left_to_the_cpu(layer: Layer) -> None:
    network = _around(layer, (1, 4, 4, 8))
    assert any(refusal(layer, runtime, network) for runtime in RUNTIMES)
    assert not any(refusal(layer, runtime, network, QNN) for runtime in RUNTIMES)
    assert refusal(layer, "hta", network, QNN)


@pytest.mark.parametrize("family", operators.names())
def test_no_table_gives_an_opaque_node_to_anybody(family: str) -> None:
    network = _around(OPAQUE, (2, 3))
    for runtime in RUNTIMES:
        reason = refusal(OPAQUE, runtime, network, Operators.of(family))
        assert reason == refusal(OPAQUE, runtime, network)


def test_a_refusal_names_layer_release_source_and_who_has_it() -> None:
    lstm = Recurrent(**IO, cell="lstm", hidden=3, weight="w", recurrence="r")
    network = _around(lstm, (1, 2, 3))
    old = Operators.of("snpe-1", "snpe-1.30", "1.30")
    assert refusal(lstm, "dsp", network, old) == (
        "snpe-1.30 has no recurrent (lstm) on the DSP before 1.59 (SNPE layer support table of "
        "1.43 to 2.5); stack aihub-tflite or qnn-2.45 or snpe-1.63 has it"
    )
    assert refusal(lstm, "gpu", network, old) is None
    assert refusal(lstm, "dsp", network, Operators.of("snpe-1", release="1.59")) is None
    layer_norm = Normalization(**IO, kind="deviation", axes=(2,), epsilon=1e-5)
    nobody = refusal(layer_norm, "dsp", network, Operators.of("snpe-1"))
    assert nobody is not None
    assert "tflite-hexagon" in nobody
    rnn = Recurrent(**IO, cell="rnn", hidden=3, weight="w", recurrence="r")
    assert "no other stack" in (refusal(rnn, "dsp", network, QNN) or "")


@pytest.mark.parametrize(
    "layer", [ELU, Neuron(**IO, function="gelu"), Neuron(**IO, function="sin")]
)
def test_a_release_of_anything_takes_what_hexsim_has(layer: Layer) -> None:
    everything = Operators.of("any")
    network = _around(layer, (2, 3))
    assert not any(refusal(layer, runtime, network, everything) for runtime in RUNTIMES)


LRN = LocalResponseNorm(**IO, size=5, alpha=1e-4, beta=0.75, bias=1.0)
POOL = Pooling(**IO, kind="max", window=Window((1, 1)))


@pytest.mark.parametrize(
    ("layer", "shape", "words"),
    [
        (Neuron(**IO, function="tanh"), (1, 4, 4, 8), None),
        (POOL, (1, 4, 4, 8), None),
        (SPARSE, (1, 4, 4, 8), None),
        (LARGER, (1, 4, 4, 8), None),
        (Elementwise(name="l", inputs=("x", "x"), outputs=("y",), kind="product"), (1, 8), None),
        (OPAQUE, (2, 3), "no layer type"),
        (ELU, (1, 3), "no such function"),
        (LRN, (1, 4, 4, 8), "no layer of this type"),
        (Neuron(**IO, function="exp"), (1, 8), "no such function"),
        (Permute(**IO, permutation=(0, 1)), (1, 8), "no layer of this type"),
        (Neuron(**IO, function="hard_sigmoid"), (1, 8), None),
        (Neuron(**IO, function="clamp"), (1, 512, 512, 1), None),
        (Neuron(**IO, function="clamp"), (1, 1024, 1024, 1), "clamps at most"),
        (Neuron(**IO, function="tanh"), (1, 1024, 1024, 3), None),
        (Reshape(**IO, shape=(1, 4, 4, 8)), (1, 4, 4, 8), None),
        (Reshape(**IO, shape=(4, 4, 8)), (1, 4, 4, 8), None),
        (Reshape(**IO, shape=(1, 128)), (1, 4, 4, 8), "adds or drops axes of one"),
        (ArgExtremum(**IO, kind="max", axis=3), (1, 4, 4, 8), None),
        (ArgExtremum(**IO, kind="min", axis=3), (1, 4, 4, 8), "argmax and no argmin"),
        (
            Elementwise(name="l", inputs=("x", "x"), outputs=("y",), kind="max"),
            (1, 8),
            "no such function",
        ),
        (Neuron(**IO, function="tanh"), (1, 2, 4, 4, 8), "at most four axes"),
        (Neuron(**IO, function="tanh"), (2, 4, 4, 8), "batches of one"),
    ],
)
def test_what_the_tensor_engine_takes(
    layer: Layer, shape: tuple[int, ...], words: str | None
) -> None:
    sentence = refusal(layer, "hta", _around(layer, shape))
    assert sentence is None if words is None else words in (sentence or "")


@pytest.mark.parametrize(
    ("channels", "axis", "words"),
    [
        ((8, 8), 3, None),
        ((32, 4096), 3, None),
        ((31, 4065), 3, None),
        ((31, 4066), 3, "multiples of 32"),
        ((8, 8), 2, "along channels only"),
    ],
)
def test_concat_on_the_tensor_engine(
    channels: tuple[int, ...], axis: int, words: str | None
) -> None:
    names = tuple(f"x{n}" for n in range(len(channels)))
    layer = Concat(name="l", inputs=names, outputs=("y",), axis=axis)
    shapes = [(1, 2, 2, count) for count in channels]
    tensors = {n: Tensor(n, shape) for n, shape in zip(names, shapes, strict=True)}
    tensors["y"] = Tensor("y", layer.output_shapes(shapes)[0])
    sentence = refusal(layer, "hta", Network("n", (layer,), tensors, {}, names, ("y",)))
    assert sentence is None if words is None else words in (sentence or "")


def test_integer_tensors_stay_on_the_cpu() -> None:
    layer = Reshape(**IO, shape=(2, 3))
    assert "float32" in (refusal(layer, "dsp", _around(layer, (2, 3), "int64")) or "")


@pytest.mark.parametrize(("kind", "word"), [("opaque", "opaque"), ("default", "NV21")])
def test_inputs_that_are_no_codes_stay_off_the_integer_runtimes(kind: InputType, word: str) -> None:
    layer = ColourConversion(**IO, input_encoding_in="nv21", input_encoding_out="bgr")
    tensors = {"x": Tensor("x", (1, 6, 4, 1)), "y": Tensor("y", (1, 4, 4, 3))}
    formats = {"x": InputFormat(kind, "nv21")}
    network = Network("n", (layer,), tensors, {}, ("x",), ("y",), formats)
    assert {r for r in RUNTIMES if refusal(layer, r, network)} == INTEGERS | {"htp"}
    assert word in (refusal(layer, "dsp", network) or "")
    fine = replace(network, input_formats={"x": InputFormat("image", "nv21")})
    assert refusal(layer, "dsp", fine) is None


@pytest.mark.parametrize(
    ("layer", "refusing"),
    [
        (Neuron(**IO, function="selu"), {*RUNTIMES, "hta"} - {"cpu"}),
        (Elementwise(**IO, kind="power"), {*RUNTIMES, "hta"} - {"cpu"}),
        (Layer(**IO), {*RUNTIMES, "hta"} - {"cpu"}),
    ],
)
def test_what_nobody_declared_runs_on_the_cpu_alone(
    layer: Layer, refusing: set[LayerTarget]
) -> None:
    network = _around(layer, (1, 4))
    assert {t for t in (*RUNTIMES, "hta") if refusal(layer, t, network)} == refusing
    assert "nothing says" in (refusal(layer, "hta", network) or "")


def test_every_rule_has_a_sentence_and_speaks_for_somebody() -> None:
    for rule in (*RULES, *(rule for kind in TYPES for rule in kind.limits)):
        assert rule.targets
        assert len(rule.sentence.split()) > 3
        assert "cpu" not in rule.targets, "the CPU runtime is where everything else falls back to"
