"""The networks of a decoder: one block of the prompt, or one token, with the cache beside it.

Both have static shapes, as graphs compiled ahead of time have: the cache has room for the whole
context, and attention reads all of it from the first token on. Tensors have no batch axis; tokens
are rows. The queries, keys and values of each head are a product with a weight of its own, which
is how deployments for the tensor processor cut attention (quic/ai-hub-models, SHALlamaAttention):
each reads the whole hidden state. The embedding is a table that the CPU reads, so the networks
begin with its result; the rotary factors of the positions are inputs.

Weights have shapes only. Activations have the width that is asked, the cache has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, require_number, unknown
from hexsim.graph.ir import Constant, Layer, Network, Shape, Tensor
from hexsim.layers import (
    Concat,
    Elementwise,
    FullyConnected,
    MatMul,
    Neuron,
    Normalization,
    Permute,
    Reshape,
    Softmax,
    StridedSlice,
)
from hexsim.layers.slices import AxisSlice
from hexsim.llm.architecture import Architecture
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.records import dataclass, field
from hexsim.runtimes import Runtime

HIDDEN, COSINES, SINES, MASK = "hidden", "cosines", "sines", "mask"
"""Names of the inputs beside the cache."""
HEAD = "head"
"""Name of the layer that gives the logits."""
_EPSILON = 1e-5
_HEAD_BITS = 8
"""Bits of the head's weights: the measured deployments keep a few layers in 8 bits (documented);
that the head is one of them is assumed."""
Activations = Literal["8", "16", "float"]


@dataclass(frozen=True)
class Widths:
    """Bits of weights, of activations ("float" for float16) and of the cache.

    The cache is kept in 8 bits beside activations in codes, which is what deployments of w4a16
    do (assumed for the measured ones), and in float16 beside floats; `cache_bits_stated` are other
    bits. `head_bits` are those of the head's weights.
    """

    weights: int = 4
    activations: Activations = "16"
    head_bits: int = _HEAD_BITS
    cache_bits_stated: int | None = None

    @classmethod
    def parse(cls, weights: str | None, activations: str, architecture: Architecture) -> Widths:
        """Read "w4" or "w8", and "8", "16" or "float"; raise HexsimError for others.

        Without `weights`, layers and head have the bits of the ONNX file, or else 4 and 8.
        """
        head = f"w{(architecture.head_bits if weights is None else None) or _HEAD_BITS}"
        weights = f"w{architecture.weight_bits or 4}" if weights is None else weights
        known = {"w4": 4, "w8": 8}
        for what, width in (("weights", weights), ("weights of the head", head)):
            if width not in known:
                raise unknown(f"width of {what}", width, known)
        for kind in get_args(Activations):
            if activations == kind:
                return cls(known[weights], kind, known[head])
        raise unknown("width of activations", activations, get_args(Activations))

    @property
    def floats(self) -> bool:
        """Whether activations are float16."""
        return self.activations == "float"

    @property
    def runtime(self) -> Runtime:
        """The runtime that computes with them."""
        return "htp_fp16" if self.floats else "htp"

    @property
    def activation_bits(self) -> int:
        """Bits of a number of an activation."""
        return 16 if self.floats else int(self.activations)

    @property
    def cache_bits(self) -> int:
        """Bits of a number of the cache."""
        return self.cache_bits_stated or (16 if self.floats else 8)


_MOST_TOKENS = 1 << 20


@dataclass(frozen=True)
class Conditions:
    """How a model is deployed and used.

    `context` is the number of tokens for which its graphs are compiled, `block` that of a block of
    the prompt. Parts take at most `part_gb` gigabytes of weights and cache.
    """

    widths: Widths = field(default_factory=Widths)
    context: int = 4096
    prompt: int = 1024
    generate: int = 256
    block: int = 128
    part_gb: float = 2.0

    def __post_init__(self) -> None:
        """Raise HexsimError for values out of range, or that do not fit together."""
        for name, least in (("context", 2), ("prompt", 1), ("generate", 0), ("block", 1)):
            value = getattr(self, name)
            if type(value) is not int:
                raise HexsimError(f"{name} is a whole number of tokens, not {value!r}")
            require_number(f"{name}, a number of tokens,", value, least, _MOST_TOKENS)
        require_number("the size of a part in GB", self.part_gb, 0.01, 4)
        require_lengths(self.context, self.block)
        if self.prompt + self.generate > self.context:
            raise HexsimError(
                f"{self.prompt} tokens of the prompt and {self.generate} generated ones do not fit "
                f"a context of {self.context}; give a longer context or fewer tokens"
            )


@dataclass
class _Builder:
    """Layers in order, with the tensors that they make and the weights that they name.

    `kept` are new keys and values, which are outputs; `states` has those of them that are the next
    value of an input, by that input.
    """

    layers: list[Layer] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)

    def input(self, name: str, *shape: int) -> str:
        """Add an input of the network."""
        self.tensors[name] = Tensor(name, shape)
        self.inputs.append(name)
        return name

    def weight(self, name: str, *shape: int) -> str:
        """Add a weight of which only the shape is known."""
        self.constants[name] = Constant(name, shape, _unread)
        return name

    def add(self, of: type[Layer], name: str, *operands: str, **attributes: Any) -> str:
        """Add a layer of a type; its one output has its name, and a shape that follows."""
        layer = of(name=name, inputs=operands, outputs=(name,), **attributes)
        (shape,) = layer.output_shapes([self.shape(name) for name in layer.inputs])
        self.tensors[layer.output] = Tensor(layer.output, shape)
        self.layers.append(layer)
        return layer.output

    def shape(self, name: str) -> Shape:
        """Return the shape of a tensor."""
        return self.tensors[name].shape

    def matrix(self, name: str, operand: str, columns: int, *, bias: bool = False) -> str:
        """Multiply the rows of a tensor by a weight."""
        weight = self.weight(f"{name}.weight", self.shape(operand)[-1], columns)
        added = self.weight(f"{name}.bias", columns) if bias else None
        return self.add(
            FullyConnected, name, operand, weight=weight, bias=added, output_channels=columns
        )

    def norm(self, name: str, operand: str) -> str:
        """Divide each row by its root mean square."""
        shape = self.shape(operand)
        scale = self.weight(f"{name}.weight", shape[-1])
        kind, axes = "mean_square", (len(shape) - 1,)
        return self.add(
            Normalization, name, operand, kind=kind, axes=axes, epsilon=_EPSILON, scale=scale
        )

    def combine(self, kind: Literal["sum", "sub", "product"], name: str, *operands: str) -> str:
        """Add, subtract or multiply."""
        return self.add(Elementwise, name, *operands, kind=kind)

    def part(self, name: str, operand: str, start: int, stop: int) -> str:
        """Take columns of a tensor."""
        axis = len(self.shape(operand)) - 1
        parts = (AxisSlice(axis, start, stop),)
        return self.add(StridedSlice, name, operand, parts=parts)

    def joined(self, name: str, axis: int, *operands: str) -> str:
        """Join tensors along an axis."""
        return self.add(Concat, name, *operands, axis=axis)

    def heads(self, name: str, operand: str, heads: int, size: int, *, bias: bool) -> str:
        """Multiply the rows of a tensor by a weight for each head, to (heads, tokens, size)."""
        shape = (1, self.shape(operand)[0], size)
        products = [self.matrix(f"{name}{at}", operand, size, bias=bias) for at in range(heads)]
        return self.joined(name, 0, *(self.reshaped(f"{of}.head", of, shape) for of in products))

    def merged(self, name: str, operand: str) -> str:
        """Join (heads, tokens, size) to (tokens, heads x size)."""
        heads, tokens, head_size = self.shape(operand)
        turned = self.add(Permute, f"{name}.turned", operand, permutation=(1, 0, 2))
        return self.reshaped(name, turned, (tokens, heads * head_size))

    def reshaped(self, name: str, operand: str, shape: Shape) -> str:
        """Give a tensor another shape."""
        return self.add(Reshape, name, operand, shape=shape)

    def product(self, name: str, first: str, second: str, *, transposed: bool = False) -> str:
        """Multiply matrices, none of which is a weight."""
        return self.add(MatMul, name, first, second, transposed=transposed)

    def rotated(self, name: str, operand: str, size: int) -> str:
        """Rotate pairs of the first `size` columns by the angles of the positions."""
        half, columns = size // 2, self.shape(operand)[-1]
        low = self.part(f"{name}.low", operand, 0, half)
        high = self.part(f"{name}.high", operand, half, size)
        products = [
            self.combine("product", f"{name}.{part}_{factor}", operand_part, factor)
            for part, operand_part in (("low", low), ("high", high))
            for factor in (COSINES, SINES)
        ]
        parts = [
            self.combine("sub", f"{name}.first", products[0], products[3]),
            self.combine("sum", f"{name}.second", products[1], products[2]),
        ]
        if columns > size:
            parts.append(self.part(f"{name}.rest", operand, size, columns))
        return self.joined(name, 2, *parts)


def _unread() -> npt.NDArray[np.generic]:
    raise TypeError("a weight of which only the shape is known")


def require_lengths(context: int, tokens: int) -> None:
    """Raise HexsimError unless `tokens` at once fit a context."""
    if not 1 <= tokens <= context:
        raise HexsimError(
            f"a block of {tokens} tokens does not fit a context of {context}; give a block of 1 to "
            f"{context} tokens or a longer context"
        )


def decoder(
    architecture: Architecture,
    tokens: int,
    context: int,
    widths: Widths,
    layers: Sequence[int] | None = None,
    *,
    head: bool = True,
) -> Model:
    """Return the network of `tokens` new tokens after `context - tokens` cached ones.

    `layers` are those of one part of a split model, by default all of them; `head` says whether
    the head follows. Raises HexsimError if the tokens do not fit the context.
    """
    require_lengths(context, tokens)
    numbers = range(architecture.layers) if layers is None else layers
    build = _Builder()
    hidden = build.input(HIDDEN, tokens, architecture.hidden)
    if half := architecture.rotary_size // 2:
        build.input(COSINES, tokens, half)
        build.input(SINES, tokens, half)
    build.input(MASK, tokens, context)
    for number in numbers:
        hidden = _layer(build, architecture, f"layer{number}", hidden)
    if head:
        normed = build.norm("final_norm", hidden)
        hidden = build.matrix(HEAD, normed, architecture.vocabulary)
    network = Network(
        name=architecture.name,
        layers=tuple(build.layers),
        tensors=build.tensors,
        constants=build.constants,
        inputs=tuple(build.inputs),
        outputs=(hidden, *build.kept),
        states=build.states,
    )
    return _with_widths(network, widths)


def _layer(build: _Builder, architecture: Architecture, name: str, hidden: str) -> str:
    attended = _attention(build, architecture, name, hidden)
    if architecture.norms_after:
        attended = build.norm(f"{name}.attention_norm_after", attended)
    hidden = build.combine("sum", f"{name}.attention_sum", hidden, attended)
    normed = build.norm(f"{name}.feed_forward_norm", hidden)
    up = build.matrix(f"{name}.up", normed, architecture.feed_forward)
    if architecture.gated:
        gate = build.matrix(f"{name}.gate", normed, architecture.feed_forward)
        active = build.add(Neuron, f"{name}.silu", gate, function="silu", alpha=1.0)
        up = build.combine("product", f"{name}.gated", active, up)
    else:
        up = build.add(Neuron, f"{name}.gelu", up, function="gelu", alpha=1.0)
    down = build.matrix(f"{name}.down", up, architecture.hidden)
    if architecture.norms_after:
        down = build.norm(f"{name}.feed_forward_norm_after", down)
    return build.combine("sum", f"{name}.feed_forward_sum", hidden, down)


def _attention(build: _Builder, architecture: Architecture, name: str, hidden: str) -> str:
    size, rotary = architecture.head_size, architecture.rotary_size
    counts = {"query": architecture.heads, "key": architecture.kv_heads}
    normed = build.norm(f"{name}.attention_norm", hidden)
    operands = {}
    for kind, heads in (*counts.items(), ("value", architecture.kv_heads)):
        operands[kind] = build.heads(
            f"{name}.{kind}", normed, heads, size, bias=architecture.qkv_bias
        )
    for kind in counts:
        if architecture.head_norms:
            operands[kind] = build.norm(f"{name}.{kind}_norm", operands[kind])
        if rotary:
            operands[kind] = build.rotated(f"{name}.{kind}_rotated", operands[kind], rotary)
    for kind in ("key", "value"):
        operands[kind] = _cached(build, f"{name}.{kind}_cache", operands[kind])
    return _attended(build, architecture, name, operands)


def _cached(build: _Builder, name: str, new: str) -> str:
    """Append the new keys or values to those of the cache, an input; they are an output.

    Tokens that fill the whole context have no cache before them.
    """
    heads, tokens, size = build.shape(new)
    context = build.shape(MASK)[1]
    build.kept.append(new)
    if tokens == context:
        return new
    past = build.input(f"{name}.past", heads, context - tokens, size)
    build.states[past] = new
    return build.joined(name, 1, past, new)


def _attended(
    build: _Builder, architecture: Architecture, name: str, operands: dict[str, str]
) -> str:
    """Return the result of attention over the cache, projected, as (tokens, hidden).

    Tensors have five axes, because four are those of an image: 1, groups, heads of a group, rows
    and columns. The heads of a group read the same keys and values.
    """
    heads, tokens, size = build.shape(operands["query"])
    groups = architecture.kv_heads
    queries = build.reshaped(
        f"{name}.queries", operands["query"], (1, groups, heads // groups, tokens, size)
    )
    context = build.shape(operands["key"])[1]
    keys, values = (
        build.reshaped(f"{name}.{kind}s", operands[kind], (1, groups, 1, context, size))
        for kind in ("key", "value")
    )
    scores = build.product(f"{name}.scores", queries, keys, transposed=True)
    masked = build.combine("sum", f"{name}.masked", scores, MASK)
    shares = build.add(Softmax, f"{name}.softmax", masked, axes=(4,))
    mixed = build.product(f"{name}.attention", shares, values)
    flat = build.reshaped(f"{name}.mixed", mixed, (heads, tokens, size))
    merged = build.merged(f"{name}.merged", flat)
    return build.matrix(f"{name}.output", merged, architecture.hidden)


def _with_widths(network: Network, widths: Widths) -> Model:
    """Give weights and activations their widths; in floats only the weights have codes."""
    parameters = {
        layer.weight: _encoding(widths.head_bits if layer.name == HEAD else widths.weights)
        for layer in network.layers
        if isinstance(layer, FullyConnected)
    }
    written = {reader.output for name in network.states for reader in network.consumers[name]}
    cached = written | {*network.states, *network.states.values()}
    activations = {
        name: _encoding(widths.cache_bits if name in cached else widths.activation_bits)
        for name in network.tensors
        if not widths.floats
    }
    return Model(network, activations, parameters, packs_weights=True, quantized=True)


@cache
def _encoding(bits: int) -> Encoding:
    """Return an encoding of this width; time and memory do not depend on its range."""
    return Encoding.symmetric_of(1.0, bits)
