"""A graph on the tensor processor beside layers on the CPU: ways there and back, and reports."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx import helper as h

import hexsim
from hexsim.datasheets import chips
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.quantization.float_layers import element_type
from hexsim.quantization.options import QuantizationOptions
from hexsim.reports.benchmark import benchmark_tables, footnotes
from hexsim.results.benchmark import Benchmark, Inference
from hexsim.studies.benchmark import BenchmarkConditions, run_benchmark
from hexsim.timing.picoseconds import PS_PER_SECOND

SHAPE = (1, 8, 16, 16)
ELEMENTS = 8 * 16 * 16


@pytest.fixture
def refused_in_the_middle(tmp_path: Path) -> Path:
    """Relu, Hardmax, which no release is known to have, and Relu."""
    nodes = [
        h.make_node("Relu", ["x"], ["a"], "first"),
        h.make_node("Hardmax", ["a"], ["b"], "hard", axis=1),
        h.make_node("Relu", ["b"], ["y"], "last"),
    ]
    ends = [h.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in "xy"]
    graph = h.make_graph(nodes, "middle", ends[:1], ends[1:])
    path = tmp_path / "middle.onnx"
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)]), path)
    return path


def test_both_ways_are_charged_with_their_conversions(refused_in_the_middle: Path) -> None:
    """Out and back: each a crossing, and 2048 values read in 2 bytes and written in 4."""
    platform = Platform.load("sd8gen3")
    result = Deployment(hexsim.load(refused_in_the_middle), platform, "htp_fp16").simulate()
    engines = [engine for engine, _ in groupby(layer.engine for layer in result.layers)]
    assert engines == ["htp", "cpu", "htp"]
    ways = {part.name: part.duration_ps for part in result.overheads if "cpu" in part.name}
    moved_s = ELEMENTS * (2 + 4) / platform.chip.cpu.bandwidth_bytes_per_s
    way_ps = (platform.stack.htp.crossing_s + moved_s) * PS_PER_SECOND
    assert set(ways) == {"to_cpu", "from_cpu"}
    assert list(ways.values()) == pytest.approx([way_ps, way_ps], rel=1e-6)
    charges = (*result.layers, *result.overheads)
    assert sum(charge.duration_ps for charge in charges) == result.total_ps


def _cases(path: Path, *runtimes: str, chip: str = "sd8gen3") -> list[Inference]:
    conditions = BenchmarkConditions(accuracy=False)
    cases = run_benchmark([str(path)], Platform.load(chip), runtimes, conditions)  # type: ignore[arg-type]
    return [case for case in cases if isinstance(case, Inference)]


def test_a_table_names_what_the_processor_does_not_take(refused_in_the_middle: Path) -> None:
    cases = _cases(refused_in_the_middle, "cpu", "htp_fp16")
    text = benchmark_tables(cases)
    assert "%, 1 layer on cpu" in text
    assert "on cpu: hard (Hardmax): the operator has no layer type on this runtime" in text
    assert "by assumed public constants alone" in footnotes(Benchmark(results=tuple(cases)))


@pytest.mark.parametrize("chip", [n for n in chips.names() if chips.load(n).htp_table is not None])
def test_no_chip_leaves_a_network_without_a_time(refused_in_the_middle: Path, chip: str) -> None:
    for runtime in ("htp_fp16", "cpu", "gpu"):
        deployment = Deployment(hexsim.load(refused_in_the_middle), Platform.load(chip), runtime)
        assert deployment.simulate().total_ps > 0


@pytest.fixture
def masked(tmp_path: Path) -> Path:
    """Token ids, a mask, the most likely of 300 words: Gather, Where, Relu, ArgMax of int64."""
    nodes = [
        h.make_node("Gather", ["table", "ids"], ["words"], "lookup"),
        h.make_node("Where", ["mask", "words", "low"], ["kept"], "mask"),
        h.make_node("Relu", ["kept"], ["clear"], "relu"),
        h.make_node("ArgMax", ["clear"], ["y"], "most", axis=1, keepdims=0),
    ]
    inputs = [
        h.make_tensor_value_info("ids", TensorProto.INT64, (6,)),
        h.make_tensor_value_info("mask", TensorProto.BOOL, (6, 300)),
    ]
    constants = [
        h.make_tensor("table", TensorProto.FLOAT, (10, 300), [0.5] * 3000),
        h.make_tensor("low", TensorProto.FLOAT, (), [-1.0]),
    ]
    output = h.make_tensor_value_info("y", TensorProto.INT64, (6,))
    graph = h.make_graph(nodes, "masked", inputs, [output], constants)
    path = tmp_path / "masked.onnx"
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)]), path)
    return path


def test_indices_and_masks_stay_in_the_one_graph(masked: Path) -> None:
    """Started once, nothing on the CPU, and the cast of positions is no operation at all."""
    result = Deployment(hexsim.load(masked), Platform.load("qcs8550"), "htp_fp16").simulate()
    assert {layer.engine for layer in result.layers} == {"htp"}
    assert [part.name for part in result.overheads] == ["htp_call", "graph_start"]
    durations = {layer.type: layer.duration_ps for layer in result.layers}
    assert durations["Cast"] == 0
    assert min(durations[kind] for kind in ("Gather", "Where", "argmax")) > 0


def test_an_operator_may_run_in_codes_only(arc: Path) -> None:
    """V68 leaves an arc sine of floats to the CPU."""
    text = benchmark_tables(_cases(arc, "htp_fp16", chip="sd888"))
    assert "on cpu: y (Asin): Asin in float16 is not taken by V68, no architecture is known" in text


def test_the_narrowest_operand_is_the_type_of_a_layer() -> None:
    """With one operand of 8 bits it is a layer of 8 bits."""
    ends = [h.make_tensor_value_info(name, TensorProto.FLOAT, (4, 4)) for name in "xy"]
    nodes = [h.make_node("Relu", ["x"], ["a"]), h.make_node("MatMul", ["a", "x"], ["y"])]
    graph = h.make_graph(nodes, "product", ends[:1], ends[1:])
    proto = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)])
    feed = {"x": np.linspace(-1, 1, 16, dtype="float32").reshape(4, 4)}
    options = QuantizationOptions(activation_bits=16)
    model = hexsim.quantize(hexsim.load(proto), [feed], options)
    layer = next(layer for layer in model.network.layers if layer.type == "matmul")
    second = layer.inputs[1]
    narrow = replace(model.activations[second], bitwidth=8)
    narrowed = replace(model, activations={**model.activations, second: narrow})
    assert element_type(model, layer, "htp") == "int16"
    assert element_type(narrowed, layer, "htp") == "int8"
    assert element_type(narrowed, layer, "htp_fp16") == "float16"


def test_what_a_later_release_adds_is_not_in_this_one() -> None:
    platform = Platform.load("qcs8550")
    assert platform.stack.operators.runs_in_graph("TopK")
    assert not platform.stack.operators.runs_in_graph("OneHot")
    assert not platform.stack.operators.runs_in_graph("Hardmax")
    assert platform.stack.operators.runs_in_graph("Resize", "cubic")
    assert not platform.stack.operators.runs_in_graph("Resize", "tf_crop_and_resize")
