"""The architecture of a decoder from its ONNX export is that of its configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest

from hexsim.errors import HexsimError
from hexsim.llm.architecture import Architecture, architecture_of
from hexsim.llm.network import Widths
from hexsim.studies.language_model import read_decoder
from tests.cli.conftest import Done
from tests.cli.conftest import command as command
from tests.llm.tiny_decoder import CONFIG, Export, tiny_decoder

Change = Callable[[onnx.ModelProto], None]


def _read(model: onnx.ModelProto, folder: Path) -> Architecture:
    file = folder / "tiny.onnx"
    onnx.save(model, file)
    return read_decoder(file)


@pytest.mark.parametrize(
    ("export", "changes"),
    [
        (Export(), {}),
        (Export(external=True, packed=True, rotary_inside=True), {}),
        (Export(bits=8, bias=True), {"model_type": "qwen2"}),
        (Export(bits=None, head_norms=True, tied=True), {"model_type": "qwen3", "tied": True}),
        (Export(tokens=3, past=5, rotary_inside=True), {}),
    ],
)
def test_the_sizes_are_those_of_the_configuration(
    export: Export, changes: dict[str, Any], tmp_path: Path
) -> None:
    tree = {**CONFIG, **changes, "tie_word_embeddings": changes.get("tied", False)}
    configured = architecture_of(tree, "tiny", "config.json")
    expected = replace(
        configured, model_type="onnx", weight_bits=export.bits, head_bits=export.bits
    )
    assert _read(tiny_decoder(export), tmp_path) == expected


def test_the_head_has_the_bits_of_the_file(tmp_path: Path) -> None:
    architecture = _read(tiny_decoder(Export(bits=4)), tmp_path)
    assert Widths.parse(None, "16", architecture) == Widths(4, "16", head_bits=4)
    assert Widths.parse("w4", "16", architecture) == Widths(4, "16", head_bits=8)
    with pytest.raises(HexsimError, match="unknown width of weights of the head 'w2'"):
        Widths.parse(None, "16", replace(architecture, head_bits=2))


def _node(model: onnx.ModelProto, name: str) -> onnx.NodeProto:
    return next(node for node in model.graph.node if node.name == name)


def _another_width(model: onnx.ModelProto) -> None:
    for name, size in (("gate_proj", "N"), ("up_proj", "N"), ("down_proj", "K")):
        node = _node(model, f"/layers.1.{name}")
        next(item for item in node.attribute if item.name == size).i = 128


def _without_gate(model: onnx.ModelProto) -> None:
    nodes = [node for node in model.graph.node if node.name != "/layers.1.gate_proj"]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _without_attention(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        if node.op_type == "GroupQueryAttention":
            node.op_type = "PagedAttention"


def _with_experts(model: onnx.ModelProto) -> None:
    _node(model, "/layers.0.gated").op_type = "QMoE"
    _node(model, "/layers.0.gated").domain = "com.microsoft"


def _more_heads(model: onnx.ModelProto) -> None:
    _node(model, "/layers.0.attention").attribute[0].i = 3


def _unknown_type(model: onnx.ModelProto) -> None:
    model.graph.initializer[-1].data_type = 99


def _text_weights(model: onnx.ModelProto) -> None:
    model.graph.initializer[-1].data_type = onnx.TensorProto.STRING


def _negative_size(model: onnx.ModelProto) -> None:
    model.graph.initializer[-1].dims[0] = -4


def _weight_that_is_its_own_form(model: onnx.ModelProto) -> None:
    node = onnx.helper.make_node("Transpose", ["ring"], ["ring"], name="/ring")
    model.graph.node.insert(0, node)
    _node(model, "/layers.1.up_proj").input[1] = "ring"


def _form_of_nothing(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, onnx.helper.make_node("Cast", [], ["none"], name="/none"))
    _node(model, "/layers.1.up_proj").input[1] = "none"


def _layers_without_end(model: onnx.ModelProto) -> None:
    model.graph.node.extend([_node(model, "/layers.0.attention")] * 1000)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_weight_that_is_its_own_form, r"'/ring' \(Transpose\): reads 'ring', which only a later"),
        (_form_of_nothing, r"'/none' \(Cast\): has no input number 1"),
        (_layers_without_end, r"has 1002 layers, 1000 are the most"),
        (_unknown_type, r"has element type 99, which the installed onnx does not know"),
        (_text_weights, r"holds no numbers"),
        (_negative_size, r"has the shape \[-4.*\], which no array has"),
        (_another_width, r"'/layers.1.attention' .* has other sizes than the first one"),
        (_without_gate, r"'/layers.1.attention' .* no gated feed-forward network of width 64"),
        (_without_attention, r"tiny.onnx' has no node GroupQueryAttention"),
        (_with_experts, r"'/layers.0.gated' .* a mixture of experts is not simulated"),
        (_more_heads, r"'/layers.0.attention' .* do not "),
    ],
)
def test_what_is_no_decoder_with_equal_layers_is_refused(
    change: Change, words: str, tmp_path: Path
) -> None:
    model = tiny_decoder(Export())
    change(model)
    with pytest.raises(HexsimError, match=words):
        _read(model, tmp_path)


def test_an_export_is_as_fast_as_its_configuration(
    command: Callable[[str], Done], tmp_path: Path
) -> None:
    """Without its weights; its 8 bits are those of the simulation."""
    onnx.save(tiny_decoder(Export(bits=8, external=True)), "tiny.onnx")
    Path("config.json").write_text(json.dumps(CONFIG))
    options = "--context 512 --prompt 100 --generate 20 --block 64"
    assert command(f"llm tiny.onnx {options} --json of_export.json").code == 0
    assert command(f"llm config.json {options} --weights w8 --json of_config.json").code == 0
    exported, configured = (
        json.loads(Path(f"of_{name}.json").read_text()) for name in ("export", "config")
    )
    assert exported.pop("architecture") != configured.pop("architecture")
    assert exported == configured
