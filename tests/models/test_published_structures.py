"""The networks of measured rows have the structure of the files that go with the measurements.

Those files hold no trained values, have their batch norms folded and their layers in another
order. So both are read and optimised, and each layer is known by what it computes from what.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import onnx
import pytest

from hexsim import models
from hexsim.graph.ir import Layer, Network
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize

FILES = {
    "attention_qkv_720": "block_qkv_720_s50",
    "conv1x1_1to1@256x256": "conv1x1_1to1_256x256",
    "conv1x1_3072to768@1024x1": "conv1x1_3072to768_s1024",
    "conv1x1_960to960@1x113": "block_oproj_960to960_s113",
    "dronet_112": "dronet_112",
    "efficientnet_b0_64x85": "efficientnet_b0_64x85_b1",
    "mobilenet_v2_2_0": "mobilenet_v2_2.0_224",
    "mobilenet_v3_large_0_5": "mobilenet_v3_large_0.5_224",
    "resnet18_hub": "resnet18_hub",
    "wide_resnet50_2_hub": "wide_resnet50_2_hub",
    "yolov8n_backbone": "yolov8n_640_nosplit_0_102",
}

Description = tuple[Any, ...]
COMMUTE = {"sum", "product"}
LEFT_OUT = {"name", "inputs", "outputs", "fused", "bias", "moments"}
"""Of a layer: its names, and what a batch norm left; the attention tiles state no bias."""


def built(name: str) -> Network:
    """A built-in network as it is simulated."""
    model = models.build(name)
    return optimize(read(model.proto, weights=model.weights))


def plain(network: Network, value: Any) -> Any:
    """An attribute, of a parameter its shape."""
    if isinstance(value, str) and value in network.constants:
        return network.constants[value].shape
    return round(value, 6) if isinstance(value, float) else value


def described(network: Network, layer: Layer, known: dict[str, int]) -> Description:
    """What a layer is, on which tensors of `known` it works, and what it makes."""
    fields = dataclasses.fields(layer)
    own = [field.name for field in fields if field.name not in LEFT_OUT]
    attributes = tuple((name, plain(network, getattr(layer, name))) for name in own)
    inputs = [
        known[name] if name in known else network.constants[name].shape for name in layer.inputs
    ]
    if getattr(layer, "kind", "") in COMMUTE:
        inputs.sort(key=str)
    shapes = tuple(network.tensors[name].shape for name in layer.outputs)
    return (layer.type, attributes, tuple(inputs), shapes)


def structure(network: Network, table: dict[Description, int]) -> list[int]:
    """A number for every layer's output, equal if the same was computed from the same.

    `table` gives descriptions their numbers, and is shared by networks to be compared.
    """
    known: dict[str, int] = {}
    for name in network.inputs:
        known[name] = table.setdefault(("input", network.tensors[name].shape), len(table))
    for layer in network.layers:
        number = table.setdefault(described(network, layer, known), len(table))
        known.update(dict.fromkeys(layer.outputs, number))
    return sorted(known.values())


@pytest.fixture(scope="module")
def published(real_data: Path) -> Path:
    """The folder of the files; skipped where it is absent."""
    folder = real_data.parent / "networks"
    if not folder.is_dir():
        pytest.skip(f"no networks of measured rows in {folder}")
    return folder


@pytest.mark.parametrize("name", FILES)
def test_layers_are_those_of_the_published_file(name: str, published: Path) -> None:
    ours = built(name)
    theirs = optimize(read(onnx.load(published / f"{FILES[name]}.onnx")))
    table: dict[Description, int] = {}
    assert structure(ours, table) == structure(theirs, table), list(table)[-3:]
    assert len(ours.outputs) == len(theirs.outputs)


def test_a_different_structure_is_reported() -> None:
    table: dict[Description, int] = {}
    names = ("mobilenet_v2", "mobilenet_v2_2_0")
    narrow, wide = (structure(built(name), table) for name in names)
    assert narrow != wide
