"""The architecture of a decoder, from its ONNX export: structure and shapes only.

Attention is a node of its own in such exports: GroupQueryAttention, MultiHeadAttention, or
Attention of ONNX. The matrices before and after it, and those of the feed-forward network up to the
next one, give all sizes. Weights are never read, so that a file of weights beside the graph may be
missing. Layers have to be equal, as those of a `config.json` are, and the feed-forward network
gated.

Not read: scales of embeddings and logits, bounds of scores (softcap), and windows of keys.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import onnx

from hexsim.errors import HexsimError
from hexsim.llm.architecture import MOST_LAYERS, Architecture
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.file.source import open_source
from hexsim.onnx_io.file.stored_tensors import dtype_name, require_data
from hexsim.onnx_io.read.file_graph import FileGraph, named
from hexsim.records import asdict, dataclass, field

_ATTENTION = frozenset({"GroupQueryAttention", "MultiHeadAttention", "Attention"})
_EXPERTS = frozenset({"MoE", "QMoE"})
_NORMS = frozenset(
    {
        "SimplifiedLayerNormalization",
        "SkipSimplifiedLayerNormalization",
        "RMSNormalization",
        "LayerNormalization",
        "SkipLayerNormalization",
    }
)
_TABLES = frozenset({"Gather", "GatherBlockQuantized"})
_PASSED = frozenset(
    {"RotaryEmbedding", "Reshape", "Transpose", "Cast", "Identity", "Split", "Slice", "Squeeze"}
    | {"Unsqueeze", "Add", "Mul", "Div", "Tanh", "Gather"}
    | _NORMS
)
"""Operators between a matrix and attention, or between the head and the logits."""
_CONSTANT_FORMS = frozenset({"DequantizeLinear", "Cast", "Transpose", "Identity", "Reshape"})
"""Operators that a weight may pass before a product reads it."""
_MOST_BETWEEN = 100
"""Most nodes between a matrix and attention; exports have about ten."""
_REMEDY = "give the config.json of the model instead"


@dataclass(frozen=True)
class _Matrix:
    """A product with a weight (`rows`, `columns`) of `bits`, None for floats.

    `weight` names the array of the file, `place` is the number of the node.
    """

    node: OnnxNode
    weight: str
    rows: int
    columns: int
    bits: int | None
    place: int


@dataclass
class _Path:
    """What lies between a matrix and attention: a bias, a norm, the numbers that are rotated."""

    matrix: _Matrix
    bias: bool = False
    norms: list[str] = field(default_factory=list)
    rotated: int | None = None


def read_onnx_decoder(path: Path) -> Architecture:
    """Read the architecture of a decoder from an ONNX file; its external weights may be missing.

    Raises HexsimError if the file is no ONNX model, or not the graph of a decoder with equal
    layers, naming the node that does not fit.
    """
    source = open_source(path)
    graph = FileGraph(source.graph, named(source.graph.node, source, set()), source.opset)
    graph.require_order()
    return _Decoder(graph, source.label).architecture(path.stem)


@dataclass(frozen=True)
class _Decoder:
    """The graph of a decoder; `label` names its file in messages."""

    graph: FileGraph
    label: str

    @cached_property
    def stored(self) -> dict[str, onnx.TensorProto]:
        """The arrays of the file."""
        arrays = {tensor.name: tensor for tensor in self.graph.graph.initializer}
        for node in self.graph.nodes:
            value = node.tensor("value") if node.standard == "Constant" else None
            if value is not None:
                arrays[node.output] = value
        for name, tensor in arrays.items():
            require_data(tensor, name)
        return arrays

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each node, by its name."""
        return {node.name: place for place, node in enumerate(self.graph.nodes)}

    @cached_property
    def matrices(self) -> dict[str, _Matrix]:
        """The products with weights, by the name of their node, in order."""
        matrices = (self._matrix(node, place) for place, node in enumerate(self.graph.nodes))
        return {matrix.node.name: matrix for matrix in matrices if matrix is not None}

    def architecture(self, name: str) -> Architecture:
        """Return the sizes of the decoder; HexsimError naming the node that does not fit."""
        attention = [node for node in self.graph.nodes if node.standard in _ATTENTION]
        if not attention:
            raise HexsimError(
                f"{self.label} has no node GroupQueryAttention, MultiHeadAttention or Attention, "
                f"so that it is no decoder that can be read; {_REMEDY}"
            )
        for node in self.graph.nodes:
            if node.standard in _EXPERTS:
                raise node.error("a mixture of experts is not simulated", "give a dense model")
        if len(attention) > MOST_LAYERS:
            raise HexsimError(
                f"{self.label} has {len(attention)} layers, {MOST_LAYERS} are the most; {_REMEDY}"
            )
        head = self._head()
        layers = [
            _layer(self, node, following, head)
            for node, following in zip(attention, [*attention[1:], None], strict=True)
        ]
        for node, layer in zip(attention, layers, strict=True):
            if layer != layers[0]:
                raise node.error(
                    f"its layer has other sizes than the first one: {layer} and {layers[0]}",
                    _REMEDY,
                )
        first = layers[0]
        if head.rows != first.hidden:
            raise head.node.error(
                f"the head reads {head.rows} numbers, not {first.hidden}", _REMEDY
            )
        return Architecture(
            name=name,
            model_type="onnx",
            layers=len(layers),
            vocabulary=head.columns,
            tied=head.weight in self._tables(),
            norms_after=self._norms_after(attention),
            weight_bits=self._layer_bits(head),
            head_bits=head.bits,
            **asdict(first),
        )

    def source(self, name: str) -> _Path | None:
        """Return the matrix whose result reaches the tensor `name`, and what lies between."""
        bias, rotated = False, None
        norms: list[str] = []
        for _ in range(_MOST_BETWEEN):
            node = self.graph.producers.get(name)
            if node is None:
                return None
            matrix = self.matrices.get(node.name)
            if matrix is not None:
                fused = node.input(5 if node.standard == "MatMulNBits" else 2)
                has_bias = node.standard != "MatMul" and bool(fused)
                return _Path(matrix, bias or has_bias, norms, rotated)
            varying = [name for name in node.inputs if name and self.root(name) not in self.stored]
            if node.standard not in _PASSED or not varying:
                return None
            bias |= node.standard == "Add"
            if node.standard in _NORMS:
                norms.append(node.name)
            if node.standard == "RotaryEmbedding":
                rotated = self._rotated(node)
            name = varying[0]
        return None

    def target(self, name: str) -> _Matrix | None:
        """Return the matrix that the tensor `name` reaches."""
        for _ in range(_MOST_BETWEEN):
            readers = self.graph.readers.get(name, [])
            for node in readers:
                if node.name in self.matrices:
                    return self.matrices[node.name]
            passed = [node for node in readers if node.standard in _PASSED]
            if not passed:
                return None
            name = passed[0].output
        return None

    @cached_property
    def _roots(self) -> dict[str, tuple[str, bool]]:
        """The array that a tensor is a form of, and whether transposed; absent if it is itself."""
        roots: dict[str, tuple[str, bool]] = {}
        for node in self.graph.nodes:
            if node.standard in _CONSTANT_FORMS:
                name, turned = roots.get(node.required(0), (node.required(0), False))
                roots[node.output] = name, turned ^ (node.standard == "Transpose")
        return roots

    def root(self, name: str) -> str:
        """Return the name of the array that `name` is a form of."""
        return self._roots.get(name, (name, False))[0]

    def columns_of(self, name: str) -> int | None:
        """Return the columns of an array, None for what is none."""
        array = self.stored.get(self.root(name)) if name else None
        return array.dims[-1] if array is not None and array.dims else None

    def _matrix(self, node: OnnxNode, place: int) -> _Matrix | None:
        if node.op_type == "com.microsoft.MatMulNBits":
            rows, columns = node.integer("K", 0), node.integer("N", 0)
            return _Matrix(
                node, self.root(node.required(1)), rows, columns, node.integer("bits", 4), place
            )
        if node.op_type not in ("MatMul", "Gemm"):
            return None
        weight = self.root(node.required(1))
        array = self.stored.get(weight)
        if array is None or len(array.dims) != 2:
            return None
        rows, columns = array.dims
        _, is_turned = self._roots.get(node.required(1), (weight, False))
        if is_turned != bool(node.integer("transB", 0)):
            rows, columns = columns, rows
        return _Matrix(node, weight, rows, columns, _stored_bits(array), place)

    def _rotated(self, node: OnnxNode) -> int | None:
        stated = node.integer("rotary_embedding_dim", 0)
        columns = self.columns_of(node.input(2 if node.proto.domain else 1))
        return stated or (2 * columns if columns else None)

    def _head(self) -> _Matrix:
        """Return the matrix that gives the logits."""
        for value in self.graph.graph.output:
            path = self.source(value.name)
            if path is not None:
                return path.matrix
        raise HexsimError(
            f"{self.label}: none of its outputs is that of a matrix, so that it has no head; "
            f"{_REMEDY}"
        )

    def _tables(self) -> set[str]:
        """Return the arrays of which rows are looked up."""
        tables = (node for node in self.graph.nodes if node.standard in _TABLES)
        return {self.root(node.required(0)) for node in tables}

    def _norms_after(self, attention: Sequence[OnnxNode]) -> bool:
        """Tell whether each layer has four norms, not two; HexsimError for another number."""
        of_heads = {
            norm
            for node in attention
            for place in (0, 1)
            if (path := self.source(node.input(place))) is not None
            for norm in path.norms
        }
        norms = [node for node in self.graph.nodes if node.standard in _NORMS]
        of_layers = len([node for node in norms if node.name not in of_heads]) - 1
        if of_layers not in (-1, 2 * len(attention), 4 * len(attention)):
            raise HexsimError(
                f"{self.label} has {of_layers} norms in {len(attention)} layers, and two or four "
                f"of each layer are simulated; {_REMEDY}"
            )
        return of_layers == 4 * len(attention)

    def _layer_bits(self, head: _Matrix) -> int | None:
        """Return the bits of most weights of the layers, None if they are floats."""
        weights: Counter[int | None] = Counter()
        for matrix in self.matrices.values():
            if matrix is not head:
                weights[matrix.bits] += matrix.rows * matrix.columns
        return weights.most_common(1)[0][0]


@dataclass(frozen=True)
class _LayerSizes:
    """The sizes of one layer, with the names of an Architecture."""

    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    rotary_size: int
    feed_forward: int
    qkv_bias: bool
    head_norms: bool

    def __str__(self) -> str:
        """Return the sizes in words."""
        return (
            f"width {self.hidden}, {self.heads} heads over {self.kv_heads} of {self.head_size}, "
            f"feed-forward {self.feed_forward}"
        )


def _layer(
    decoder: _Decoder, node: OnnxNode, following: OnnxNode | None, head: _Matrix
) -> _LayerSizes:
    """Return the sizes of the layer of an attention node."""
    heads = node.integer("num_heads", 0) or node.integer("q_num_heads", 0)
    kv_heads = node.integer("kv_num_heads", 0) or heads
    if heads < 1 or kv_heads < 1 or heads % kv_heads:
        raise node.error(f"its {heads} heads of queries do not share {kv_heads} of keys", _REMEDY)
    paths = list(_projections(decoder, node))
    columns = [path.matrix.columns for path in paths]
    of_query = heads if len(paths) == 3 else heads + 2 * kv_heads
    head_size, rest = divmod(columns[0], of_query)
    if rest or head_size < 1 or any(other != kv_heads * head_size for other in columns[1:]):
        raise node.error(
            f"{heads} heads of queries and {kv_heads} of keys do not fit matrices with "
            f"{', '.join(map(str, columns))} columns",
            _REMEDY,
        )
    hidden = paths[0].matrix.rows
    after = decoder.target(node.output)
    size = heads * head_size
    if after is None or (after.rows, after.columns) != (size, hidden):
        raise node.error(f"no matrix of {size} x {hidden} reads its result", _REMEDY)
    end = head.place if following is None else decoder.places[following.name]
    attention = {after.node.name, head.node.name}
    if following is not None:
        attention |= {path.matrix.node.name for path in _projections(decoder, following)}
    own = [
        matrix
        for matrix in decoder.matrices.values()
        if after.place < matrix.place < end and matrix.node.name not in attention
    ]
    cosines = decoder.columns_of(node.input(7)) if node.standard == "GroupQueryAttention" else None
    rotated = paths[0].rotated or (2 * cosines if cosines else head_size)
    return _LayerSizes(
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        rotary_size=min(rotated, head_size),
        feed_forward=_feed_forward(node, own, hidden),
        qkv_bias=any(path.bias for path in paths),
        head_norms=bool(paths[0].norms) or bool(node.input(14)),
    )


def _projections(decoder: _Decoder, node: OnnxNode) -> Iterator[_Path]:
    """Yield the matrices of queries, keys and values; one if a single matrix gives all three."""
    paths = [decoder.source(name) for name in node.inputs[:3] if name]
    names = set()
    for path in paths:
        if path is None:
            raise node.error("its queries, keys and values are not those of matrices", _REMEDY)
        if path.matrix.node.name not in names:
            names.add(path.matrix.node.name)
            yield path


def _feed_forward(node: OnnxNode, matrices: Sequence[_Matrix], hidden: int) -> int:
    """Return the width of a gated feed-forward network; HexsimError for another one."""
    before, last = matrices[:-1], [(2 * matrix.rows, matrix.columns) for matrix in matrices[-1:]]
    columns = sum(matrix.columns for matrix in before)
    if {matrix.rows for matrix in before} != {hidden} or last != [(columns, hidden)]:
        sizes = ", ".join(f"{matrix.rows} x {matrix.columns}" for matrix in matrices) or "none"
        raise node.error(
            f"the matrices after it ({sizes}) are no gated feed-forward network of width {hidden}",
            _REMEDY,
        )
    return columns // 2


def _stored_bits(array: onnx.TensorProto) -> int | None:
    """Return the bits of the codes of an array, None for floats."""
    name = dtype_name(array.data_type, array.name).removeprefix("u")
    return int(name.removeprefix("int")) if name.startswith("int") else None
