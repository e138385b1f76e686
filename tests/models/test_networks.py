"""Every network: published size, valid ONNX, activations in range, answers that differ."""

import math

import numpy as np
import onnx
import onnxruntime
import pytest

from hexsim import models
from hexsim.inputs.seeded import seeded_inputs

SLOW = {
    "alexnet", "googlenet", "googlenet_torchvision", "inception_v3", "mobilenet_v1", "mobilenet_v2",
    "mobilenet_v2_2_0", "resnet18_hub", "resnet50", "vgg16", "wide_resnet50_2_hub",
}  # fmt: skip

NETWORKS = [
    name for name in models.names() if not name.startswith("conv1x1") and name not in models.TRAINED
]

NO_CLASSES = {"attention_qkv_720", "dronet_112", "efficientnet_b0_64x85", "yolov8n_backbone"}
TWELVE_WORDS = {"ds_cnn_s"}
"""Few classes, and an average that is alike for all seeded inputs."""

# Millions of multiply-accumulates and of parameters, to the digits that are published:
# the networks' papers and model pages; torchvision's table of models for its own. DS-CNN's paper
# counts 5.4 million operations, two for a multiply-accumulate, and no parameters. Of the
# parts that XPU-RT measured: as the measurements say, or as follows from their structure.
PUBLISHED = {
    "alexnet": ("724", "61.0"),
    "attention_qkv_720": ("58", "1.15"),
    "dronet_112": ("13.0", "0.312"),
    "ds_cnn_s": ("2.7", "0.023"),
    "efficientnet_b0_64x85": ("38", "4.66"),
    "googlenet": ("1.58e3", "7.0"),
    "googlenet_torchvision": ("1.5e3", "6.6"),
    "inception_v3": ("5.7e3", "23.8"),
    "mobilenet_v1": ("569", "4.2"),
    "mobilenet_v1_quantization_friendly": ("569", "4.2"),
    "mobilenet_v2": ("301", "3.5"),
    "mobilenet_v2_2_0": ("1.137e3", "11.26"),
    "mobilenet_v3_large_0_5": ("69", "2.69"),
    "resnet18_hub": ("1.81e3", "11.7"),
    "resnet50": ("4.1e3", "25.6"),
    "squeezenet1_1": ("388", "1.24"),
    "vgg16": ("15.5e3", "138"),
    "wide_resnet50_2_hub": ("11.4e3", "68.9"),
    "yolov8n_backbone": ("1.68e3", "1.36"),
}

# What torch's own definitions count, to the unit (numel of the parameters).
PARAMETERS = {
    "googlenet_torchvision": 6_624_904,
    "inception_v3": 23_834_568,
    "mobilenet_v2": 3_504_872,
    "resnet18_hub": 11_689_512,
    "resnet50": 25_557_032,
    "squeezenet1_1": 1_235_496,
    "vgg16": 138_357_544,
    "wide_resnet50_2_hub": 68_883_240,
}

# Of the networks of measured rows, in millions to the digits that go with the measurements, batch
# norms folded: multiply-accumulates, weights and biases.
FOLDED: dict[str, tuple[str, str | None]] = {
    "attention_qkv_720": ("57.6", "1.15"),
    "conv1x1_1to1@256x256": ("0.066", None),
    "conv1x1_3072to768@1024x1": ("2416", "2.36"),
    "conv1x1_960to960@1x113": ("104", "0.92"),
    "dronet_112": ("13.0", "0.312"),
    "mobilenet_v2_2_0": ("1137", "11.23"),
    "mobilenet_v3_large_0_5": ("69.2", "2.68"),
    "resnet18_hub": ("1814", "11.68"),
    "wide_resnet50_2_hub": ("11398", "68.85"),
}


def shapes(proto: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    graph = onnx.shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True).graph
    values = [*graph.input, *graph.value_info, *graph.output]
    dimensions = {
        value.name: tuple(d.dim_value for d in value.type.tensor_type.shape.dim) for value in values
    }
    return dimensions | {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}


def macs(proto: onnx.ModelProto) -> int:
    known = shapes(proto)
    return sum(
        math.prod(known[node.output[0]]) * math.prod(known[node.input[1]][1:])
        for node in proto.graph.node
        if node.op_type in {"Conv", "Gemm"}
    )


def parameters(proto: onnx.ModelProto, *, folded: bool = False) -> int:
    """Learnt parameters: weights, biases, and batch norm's scale and shift.

    A folded batch norm leaves its shift, as the bias of the layer before it.
    """
    known = shapes(proto)
    learnt = {"Conv": slice(1, 3), "Gemm": slice(1, 3), "BatchNormalization": slice(1, 3)}
    if folded:
        learnt["BatchNormalization"] = slice(2, 3)
    names = {
        name
        for node in proto.graph.node
        if node.op_type in learnt
        for name in node.input[learnt[node.op_type]]
    }
    return sum(math.prod(known[name]) for name in names)


def agrees(count: int, published: str) -> bool:
    """Whether `count` rounds to the published number of millions."""
    digits = published.split("e")[0]
    unit = float(published) / float(digits)
    decimals = len(digits.partition(".")[2])
    return round(count / 1e6 / unit, decimals) == float(digits)


def test_every_network_has_a_published_size() -> None:
    assert set(PUBLISHED) == set(NETWORKS)


@pytest.mark.parametrize("name", NETWORKS)
def test_size_is_the_published_one(name: str) -> None:
    proto = models.build(name).proto
    published_macs, published_parameters = PUBLISHED[name]
    assert agrees(macs(proto), published_macs), macs(proto)
    assert agrees(parameters(proto), published_parameters), parameters(proto)
    assert parameters(proto) == PARAMETERS.get(name, parameters(proto))


@pytest.mark.parametrize("name", FOLDED)
def test_size_is_that_of_the_measured_network(name: str) -> None:
    proto = models.build(name).proto
    published_macs, published_parameters = FOLDED[name]
    assert agrees(macs(proto), published_macs), macs(proto)
    if published_parameters:
        assert agrees(parameters(proto, folded=True), published_parameters)


@pytest.mark.parametrize("name", NETWORKS)
def test_graph_has_the_operators_of_its_original(name: str) -> None:
    operators = {node.op_type for node in models.build(name).proto.graph.node}
    without_norm = {
        "alexnet", "attention_qkv_720", "dronet_112", "googlenet", "squeezenet1_1", "vgg16"
    }  # fmt: skip
    rescaled = {"googlenet_torchvision", "resnet18_hub", "wide_resnet50_2_hub"}
    swished = {"efficientnet_b0_64x85", "yolov8n_backbone"}
    residual = "resnet" in name or name.startswith(("mobilenet_v2", "mobilenet_v3", "dronet"))
    multiplied = {"googlenet_torchvision", "dronet_112", "mobilenet_v3_large_0_5"} | swished
    clamped = {"mobilenet_v1", "mobilenet_v2", "mobilenet_v2_2_0"}
    assert ("BatchNormalization" in operators) == (name not in without_norm)
    assert ("LRN" in operators) == (name in {"alexnet", "googlenet"})
    assert ("Clip" in operators) == (name in clamped)
    assert ("Add" in operators) == (residual or name in swished | {"googlenet_torchvision"})
    assert ("Mul" in operators) == (name in multiplied)
    assert ("Div" in operators) == (name in rescaled - multiplied)
    assert ("HardSigmoid" in operators) == (name == "mobilenet_v3_large_0_5")
    assert ("Sigmoid" in operators) == (name in swished)
    joined = ("google", "squeeze", "incep", "yolo")
    assert ("Concat" in operators) == any(part in name for part in joined)


@pytest.mark.parametrize("name", NETWORKS)
def test_declared_shapes_are_the_inferred_ones(name: str) -> None:
    """The builder's own shape arithmetic, seen at the output, agrees with ONNX's."""
    proto = models.build(name).proto
    declared = {
        v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim) for v in proto.graph.output
    }
    for value in proto.graph.output:
        value.type.tensor_type.ClearField("shape")
    inferred = shapes(proto)
    assert declared == {output: inferred[output] for output in declared}
    background = int(name in {"mobilenet_v2_2_0", "mobilenet_v3_large_0_5"})
    if name not in NO_CLASSES | TWELVE_WORDS:
        assert list(declared.values()) == [(1, 1000 + background)]


def _outputs(name: str, count: int) -> tuple[list[str], list[list[np.ndarray]]]:
    proto = models.materialise(models.build(name))
    names = [node.output[0] for node in proto.graph.node]
    known = {value.name for value in proto.graph.output}
    proto.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (source,) = session.get_inputs()
    images = seeded_inputs({source.name: tuple(source.shape)}, count)
    return names, [session.run(names, image) for image in images]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in NETWORKS]
)
def test_activations_stay_in_range_and_answers_differ(name: str) -> None:
    names, results = _outputs(name, 8)
    operators = {node.name: node.op_type for node in models.build(name).proto.graph.node}
    for index, tensor in enumerate(names):
        values = np.stack([result[index] for result in results])
        assert np.isfinite(values).all(), tensor
        if operators[tensor] == "Softmax":
            continue
        largest = 100 if name in {"alexnet", "googlenet"} else 10  # before LRN they are large
        assert 0.1 < values.std() < largest, (tensor, values.std())
    if name in NO_CLASSES | TWELVE_WORDS:
        return  # that the deviations above are not zero says that answers differ
    classes = {int(result[-1].argmax()) for result in results}
    assert len(classes) >= 4, classes
