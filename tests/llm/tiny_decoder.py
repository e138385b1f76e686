"""Tiny decoders as exporters of onnxruntime write them, with seeded weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 160,
}
"""The configuration of the decoder below."""
_HIDDEN, _WIDTH, _LAYERS, _HEADS, _GROUPS, _SIZE, _VOCABULARY = (
    64, 96, 2, 4, 2, 16, 160,
)  # fmt: skip
_BLOCK = 32
POSITIONS = 64
"""Most tokens."""


@dataclass(frozen=True)
class Export:
    """How a decoder is exported.

    `bits` are those of MatMulNBits, None for MatMul. `packed`: one matrix gives queries, keys and
    values. `rotary_inside`: attention rotates. `tied`: the head has the weights of the embedding.
    `tokens` after `past` ones, without a cache if only `past` is None, and with names of sizes if
    `tokens` is. `external`: weights are in a missing file.
    """

    bits: int | None = 4
    packed: bool = False
    rotary_inside: bool = False
    tied: bool = False
    tokens: int | None = None
    past: int | None = None
    external: bool = False
    bias: bool = False
    head_norms: bool = False

    @property
    def has_cache(self) -> bool:
        """Whether past keys and values are inputs."""
        return self.tokens is None or self.past is not None


class _Graph:
    def __init__(self, export: Export) -> None:
        self.export = export
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: list[onnx.TensorProto] = []
        self.rng = np.random.default_rng(40)

    def array(self, name: str, values: np.ndarray) -> str:
        tensor = numpy_helper.from_array(values, name)
        if self.export.external and values.size > 64:
            tensor = onnx.TensorProto(name=name, data_type=tensor.data_type, dims=tensor.dims)
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="missing.data")
        self.arrays.append(tensor)
        return name

    def add(self, op: str, inputs: list[str], *outputs: str, domain: str = "", **more: Any) -> str:
        name = outputs[0]
        node = helper.make_node(op, inputs, outputs, name=f"/{name}", domain=domain, **more)
        self.nodes.append(node)
        return name

    def fused(self, op: str, inputs: list[str], *outputs: str, **more: Any) -> str:
        return self.add(op, inputs, *outputs, domain="com.microsoft", **more)

    def floats(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        return (scale * self.rng.standard_normal(shape)).astype(np.float32)

    def matrix(self, name: str, data: str, rows: int, columns: int, *, bias: bool = False) -> str:
        bits = self.export.bits
        added = [self.array(f"{name}.bias", self.floats(columns, scale=0.1))] if bias else []
        if bits is None:
            weight = self.array(f"{name}.weight", self.floats(rows, columns, scale=rows**-0.5))
            result = self.add("MatMul", [data, weight], f"{name}.product" if bias else name)
            return self.add("Add", [result, *added], name) if bias else result
        blocks = -(-rows // _BLOCK)
        codes = self.rng.integers(0, 256, (columns, blocks, _BLOCK * bits // 8), np.uint8)
        scale = (0.8 + 0.4 * self.rng.random((columns, blocks))) * rows**-0.5 / 2 ** (bits - 2)
        inputs = [data, self.array(f"{name}.codes", codes)]
        inputs += [
            self.array(f"{name}.scales", scale.astype(np.float32)),
            *(["", ""] if bias else []),
        ]
        sizes = {"K": rows, "N": columns, "bits": bits, "block_size": _BLOCK}
        return self.fused("MatMulNBits", [*inputs, *added], name, **sizes)


def tiny_decoder(export: Export) -> onnx.ModelProto:
    """Return the decoder: from ids, lengths and the cache to logits and the cache."""
    graph = _Graph(export)
    tokens, past = export.tokens or "tokens", export.past if export.past is not None else "past"
    inputs = [helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, [1, tokens])]
    outputs = [helper.make_tensor_value_info("logits", 1, [1, tokens, _VOCABULARY])]
    lengths = ["lengths", "total"]
    if export.tokens is None:
        inputs += [helper.make_tensor_value_info(lengths[0], onnx.TensorProto.INT32, [1])]
        inputs += [helper.make_tensor_value_info(lengths[1], onnx.TensorProto.INT32, [])]
        inputs += [
            helper.make_tensor_value_info("position_ids", onnx.TensorProto.INT64, [1, tokens])
        ]
        total: Any = "total_tokens"
    else:
        total = export.tokens + (export.past or 0)
        graph.array(lengths[0], np.array([total - 1], np.int32))
        graph.array(lengths[1], np.array(total, np.int32))
        graph.array("position_ids", np.arange(export.past or 0, total)[None])
    turns = np.arange(POSITIONS)[:, None] * 0.3 ** np.arange(_SIZE // 2)
    graph.array("cos", np.cos(turns).astype(np.float32))
    graph.array("sin", np.sin(turns).astype(np.float32))
    table = graph.array("embedding", graph.floats(_VOCABULARY, _HIDDEN))
    hidden = graph.add("Gather", [table, "input_ids"], "embedded")
    skip = ""
    for number in range(_LAYERS):
        name = f"layers.{number}"
        normed, hidden = _norm(graph, f"{name}.input_norm", hidden, skip)
        ends = []
        for kind in ("key", "value"):
            shape = [1, _GROUPS, past, _SIZE]
            if export.has_cache:
                inputs.append(helper.make_tensor_value_info(f"past.{number}.{kind}", 1, shape))
            shape = [1, _GROUPS, total, _SIZE]
            outputs.append(helper.make_tensor_value_info(f"present.{number}.{kind}", 1, shape))
            ends.append(f"{number}.{kind}")
        attended = _attention(graph, name, normed, lengths, ends)
        skip = graph.matrix(f"{name}.o_proj", attended, _HEADS * _SIZE, _HIDDEN)
        normed, hidden = _norm(graph, f"{name}.post_norm", hidden, skip)
        gate = graph.matrix(f"{name}.gate_proj", normed, _HIDDEN, _WIDTH)
        up = graph.matrix(f"{name}.up_proj", normed, _HIDDEN, _WIDTH)
        active = graph.add(
            "Mul", [gate, graph.add("Sigmoid", [gate], f"{name}.sigmoid")], f"{name}.silu"
        )
        gated = graph.add("Mul", [active, up], f"{name}.gated")
        skip = graph.matrix(f"{name}.down_proj", gated, _WIDTH, _HIDDEN)
    normed, _ = _norm(graph, "final_norm", hidden, skip)
    if export.tied:
        turned = graph.add("Transpose", [table], "head_weight", perm=[1, 0])
        graph.add("MatMul", [normed, turned], "logits")
    else:
        graph.matrix("logits", normed, _HIDDEN, _VOCABULARY)
    made = helper.make_graph(graph.nodes, "tiny", inputs, outputs, graph.arrays)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(made, opset_imports=imports, ir_version=8)


def _norm(graph: _Graph, name: str, hidden: str, skip: str) -> tuple[str, str]:
    """Return the norm of a sum, and the sum."""
    scale = graph.array(f"{name}.weight", 1 + graph.floats(_HIDDEN, scale=0.1))
    if not skip:
        attributes = {"epsilon": 1e-5, "axis": -1, "stash_type": 1}
        return graph.add(
            "SimplifiedLayerNormalization", [hidden, scale], name, **attributes
        ), hidden
    outputs = [name, "", "", f"{name}.sum"]
    graph.fused("SkipSimplifiedLayerNormalization", [hidden, skip, scale], *outputs, epsilon=1e-5)
    return name, outputs[3]


def _attention(graph: _Graph, name: str, normed: str, lengths: list[str], ends: list[str]) -> str:
    export = graph.export
    sizes = {"q": _HEADS * _SIZE, "k": _GROUPS * _SIZE, "v": _GROUPS * _SIZE}
    if export.packed:
        width = sum(sizes.values())
        parts = [graph.matrix(f"{name}.qkv_proj", normed, _HIDDEN, width, bias=export.bias), "", ""]
    else:
        parts = [
            graph.matrix(f"{name}.{kind}_proj", normed, _HIDDEN, width, bias=export.bias)
            for kind, width in sizes.items()
        ]
    if export.head_norms:
        for place, kind in enumerate("qk"):
            parts[place] = _by_heads(graph, f"{name}.{kind}_norm", parts[place], sizes[kind])
    tables = ["cos", "sin"]
    flags = {"num_heads": _HEADS, "kv_num_heads": _GROUPS}
    if export.rotary_inside:
        flags["do_rotary"] = 1
    else:
        for place in (0, 1):
            inputs = [parts[place], "position_ids", *tables]
            parts[place] = graph.fused("RotaryEmbedding", inputs, f"{name}.rotated{place}")
        tables = []
    cache = [f"past.{end}" if export.has_cache else "" for end in ends]
    outputs = [f"{name}.attention", *(f"present.{end}" for end in ends)]
    return graph.fused(
        "GroupQueryAttention", [*parts, *cache, *lengths, *tables], *outputs, **flags
    )


def _by_heads(graph: _Graph, name: str, data: str, width: int) -> str:
    """Normalise each head."""
    for shape in ("heads", "flat"):
        sizes = [0, 0, -1, _SIZE] if shape == "heads" else [0, 0, width]
        graph.array(f"{name}.{shape}", np.array(sizes))
    scale = graph.array(f"{name}.weight", 1 + graph.floats(_SIZE, scale=0.1))
    split = graph.add("Reshape", [data, f"{name}.heads"], f"{name}.split")
    attributes = {"epsilon": 1e-5, "axis": -1, "stash_type": 1}
    normed = graph.add(
        "SimplifiedLayerNormalization", [split, scale], f"{name}.normed", **attributes
    )
    return graph.add("Reshape", [normed, f"{name}.flat"], f"{name}.merged")
