"""Determines the shapes of a model's inputs, and the values of symbols in them.

Rules
1. A shape from the user replaces that of the file; where it contradicts a fixed size of the file,
   notes and errors say which sizes are whose.
   A shape of 1 also stands for a scalar, since no list of sizes can be empty.
2. It gives values to the symbols in the shape of the file, which then hold for all inputs.
3. An unknown first dimension is the batch and becomes 1.
4. Any other unknown dimension is refused.
"""

from collections.abc import Collection, Mapping, Sequence

import onnx

from hexsim.errors import HexsimError, spelled, unknown
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.source import OnnxSource


def bind_input_shapes(
    source: OnnxSource,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    values: Collection[str] = (),
) -> dict[str, Shape]:
    """Return the shape (ONNX axis order) of every input that is not an initialiser, in order.

    `input_dims` maps input names to full shapes; inputs in `values` are left out, since they have a
    fixed value. Raises HexsimError for unknown names, wrong ranks, sizes below one and dimensions
    that stay unknown.
    """
    weights = {tensor.name for tensor in source.graph.initializer}
    inputs = {i.name: i for i in source.graph.input if i.name not in weights}
    if not inputs:
        raise HexsimError(f"{source.label} has no input; hexsim runs networks on inputs")
    shapes = {name: tuple(int(n) for n in shape) for name, shape in (input_dims or {}).items()}
    for name in values:
        if name not in inputs:
            raise unknown(f"input of {source.label}", name, inputs)
        del inputs[name]
    symbols: dict[str, int] = {}
    for name, shape in tuple(shapes.items()):
        if name not in inputs:
            raise unknown(f"input of {source.label}", name, inputs)
        if shape == (1,) and _is_scalar(source, inputs[name]):
            shapes[name] = shape = ()
        symbols.update(_symbols(source, inputs[name], shape))
    open_ones = [name for name in inputs if name not in shapes]
    faults: list[HexsimError] = []
    for name in open_ones:
        try:
            shapes[name] = _shape(source, inputs[name], symbols)
        except HexsimError as error:
            faults.append(error)
    if faults:
        others = [f"'{name}'" for name in open_ones if name not in shapes][1:]
        raise HexsimError(f"{faults[0]}{', and those of ' * bool(others)}{', '.join(others)}")
    return {name: shapes[name] for name in inputs}


def replaced_sizes(
    source: OnnxSource, input_dims: Mapping[str, Sequence[int]] | None
) -> tuple[str, ...]:
    """Return a sentence on each input whose `input_dims` shape contradicts sizes of the file."""
    inputs = {value.name: value for value in source.graph.input}
    sentences = []
    for name, shape in (input_dims or {}).items():
        dims = _dims(source, inputs[name]) or ()
        if any(d.dim_value > 0 and d.dim_value != n for d, n in zip(dims, shape, strict=False)):
            sentences.append(
                f"input '{name}' is {','.join(map(str, shape))} as {spelled('input_dims')} says, "
                f"and not {_text(dims)} as in {source.label}"
            )
    return tuple(sentences)


def shapes_of_symbols(source: OnnxSource, symbols: Mapping[str, int]) -> dict[str, Shape]:
    """Return the shapes (ONNX axis order) of the inputs whose sizes name one of `symbols`.

    Raises HexsimError for a symbol that no input has, and for an input with other unknown sizes.
    """
    weights = {tensor.name for tensor in source.graph.initializer}
    named = {
        value.name: (value, [dim.dim_param for dim in _dims(source, value) or () if dim.dim_param])
        for value in source.graph.input
        if value.name not in weights
    }
    known = {symbol for _, own in named.values() for symbol in own}
    for symbol, size in symbols.items():
        if symbol not in known:
            raise unknown(f"symbol of {source.label}", symbol, known)
        if size < 1:
            raise HexsimError(f"symbol '{symbol}' is a size, and at least 1, not {size}")
    return {
        name: _shape(source, value, symbols)
        for name, (value, own) in named.items()
        if symbols.keys() & set(own)
    }


def _is_scalar(source: OnnxSource, value: onnx.ValueInfoProto) -> bool:
    dims = _dims(source, value)
    return dims is not None and not dims


def _symbols(source: OnnxSource, value: onnx.ValueInfoProto, shape: Shape) -> dict[str, int]:
    """Check a shape from the user and return the values of its symbols."""
    text = ",".join(map(str, shape))
    if any(size < 1 for size in shape):
        raise HexsimError(f"input shape {text} for '{value.name}' must have sizes of at least 1")
    dims = _dims(source, value)
    if dims is None:
        return {}
    if len(dims) != len(shape):
        raise HexsimError(
            f"input shape {text} for '{value.name}' has {len(shape)} dimensions, "
            f"{source.label} has {len(dims)} there"
        )
    return {d.dim_param: n for d, n in zip(dims, shape, strict=True) if d.dim_param}


def _shape(source: OnnxSource, value: onnx.ValueInfoProto, symbols: Mapping[str, int]) -> Shape:
    dims = _dims(source, value)
    if dims is None:
        raise HexsimError(
            f"input '{value.name}' of {source.label} has no shape; "
            f"give one with {spelled('input_dims', {value.name: (1, 3, 224, 224)})}"
        )
    shape = []
    for axis, dim in enumerate(dims):
        size = dim.dim_value if dim.dim_value > 0 else symbols.get(dim.dim_param, 0)
        if not size and axis > 0:
            side = 224 if len(dims) == 4 else 128  # pixels of an image, or steps of a sequence
            likely = (1, *[side] * (len(dims) - 1))
            sizes = tuple(
                d.dim_value if d.dim_value > 0 else n for d, n in zip(dims, likely, strict=True)
            )
            raise HexsimError(
                f"input '{value.name}' of {source.label} has {_unknown(dims)}; "
                f"give all its sizes, as in {spelled('input_dims', {value.name: sizes})}"
            )
        shape.append(size or 1)
    return tuple(shape)


def _unknown(dims: Sequence[onnx.TensorShapeProto.Dimension]) -> str:
    """Describe the first size that is not known, after the batch."""
    text = _text(dims)
    for number, dim in enumerate(dims):
        if number and dim.HasField("dim_value") and dim.dim_value < 1:
            return f"the size {dim.dim_value} in its shape {text}"
    return f"the symbolic shape {text}"


def _text(dims: Sequence[onnx.TensorShapeProto.Dimension]) -> str:
    return ",".join(
        str(d.dim_value) if d.HasField("dim_value") else d.dim_param or "?" for d in dims
    )


def _dims(
    source: OnnxSource, value: onnx.ValueInfoProto
) -> Sequence[onnx.TensorShapeProto.Dimension] | None:
    if not value.type.HasField("tensor_type"):
        kind = value.type.WhichOneof("value")
        problem = f"no tensor but a {kind.removesuffix('_type')}" if kind else "of no stated type"
        raise HexsimError(f"input '{value.name}' of {source.label} is {problem}")
    tensor = value.type.tensor_type
    return tensor.shape.dim if tensor.HasField("shape") else None
