"""Every network: published size, valid ONNX, activations in range, answers that differ."""

import math

import numpy as np
import onnx
import onnxruntime
import pytest

from hexsim import models
from hexsim.inputs.seeded import seeded_inputs

SLOW = {"inception_v3", "resnet50", "vgg16"}

NETWORKS = [name for name in models.names() if not name.startswith("conv1x1")]

# Millions of multiply-accumulates and of parameters, to the digits that are published:
# the networks' papers and model pages; torchvision's table of models for its own.
PUBLISHED = {
    "alexnet": ("724", "61.0"),
    "googlenet": ("1.58e3", "7.0"),
    "googlenet_torchvision": ("1.5e3", "6.6"),
    "inception_v3": ("5.7e3", "23.8"),
    "mobilenet_v1": ("569", "4.2"),
    "mobilenet_v1_quantization_friendly": ("569", "4.2"),
    "mobilenet_v2": ("301", "3.5"),
    "resnet50": ("4.1e3", "25.6"),
    "squeezenet1_1": ("388", "1.24"),
    "vgg16": ("15.5e3", "138"),
}

# What torch's own definitions count, to the unit (numel of the parameters).
PARAMETERS = {
    "googlenet_torchvision": 6_624_904,
    "inception_v3": 23_834_568,
    "mobilenet_v2": 3_504_872,
    "resnet50": 25_557_032,
    "squeezenet1_1": 1_235_496,
    "vgg16": 138_357_544,
}


def shapes(proto: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    graph = onnx.shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True).graph
    values = [*graph.input, *graph.value_info, *graph.output]
    found = {
        value.name: tuple(d.dim_value for d in value.type.tensor_type.shape.dim) for value in values
    }
    return found | {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}


def macs(proto: onnx.ModelProto) -> int:
    known = shapes(proto)
    return sum(
        math.prod(known[node.output[0]]) * math.prod(known[node.input[1]][1:])
        for node in proto.graph.node
        if node.op_type in {"Conv", "Gemm"}
    )


def parameters(proto: onnx.ModelProto) -> int:
    """Learnt parameters: weights, biases, and batch norm's scale and shift."""
    known = shapes(proto)
    learnt = {"Conv": slice(1, 3), "Gemm": slice(1, 3), "BatchNormalization": slice(1, 3)}
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


@pytest.mark.parametrize("name", NETWORKS)
def test_graph_has_the_operators_of_its_original(name: str) -> None:
    operators = {node.op_type for node in models.build(name).proto.graph.node}
    has_norm = name not in {"alexnet", "googlenet", "squeezenet1_1", "vgg16"}
    assert ("BatchNormalization" in operators) == has_norm
    assert ("LRN" in operators) == (name in {"alexnet", "googlenet"})
    assert ("Clip" in operators) == (name in {"mobilenet_v1", "mobilenet_v2"})
    assert ("Add" in operators) == (name in {"googlenet_torchvision", "mobilenet_v2", "resnet50"})
    assert ("Mul" in operators) == (name == "googlenet_torchvision")
    assert ("Concat" in operators) == any(part in name for part in ("google", "squeeze", "incep"))


@pytest.mark.parametrize("name", NETWORKS)
def test_declared_shapes_are_the_inferred_ones(name: str) -> None:
    """The builder's own shape arithmetic, seen at the output, agrees with ONNX's."""
    proto = models.build(name).proto
    declared = proto.graph.output[0]
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    assert shapes(proto)[declared.name] == (1, 1000)


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
    classes = {int(result[-1].argmax()) for result in results}
    assert len(classes) >= 4, classes
