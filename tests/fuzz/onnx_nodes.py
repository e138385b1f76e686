"""Files of one node, whose operands and attributes are drawn at random: most of them contradict.

Every operator that has a translator, an expansion or a place in a tail is drawn, with as many
operands as it may have, each an input or a constant of any rank, and attributes of the types that
the standard states. So what a translator takes for granted is broken sooner or later. A case is
told by its number alone.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.onnx_io.read.expansions import EXPANSIONS, SHAPED
from hexsim.onnx_io.read.operators import TRANSLATORS
from hexsim.onnx_io.read.reader import read
from tests.fuzz.watch import watched

_FOREIGN = "com.microsoft"
_TAILS = ("Compress", "NonMaxSuppression", "NonZero", "TopK", "Unique")
_CODES = ("QuantizeLinear", "DequantizeLinear")
_FAKE = ("FakeQuantize", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs")
OPERATORS: tuple[tuple[str, str], ...] = (
    *(("", name) for name in sorted({*TRANSLATORS, *_TAILS, *_CODES})),
    *(tuple(name.rpartition(".")[::2]) for name in sorted({*EXPANSIONS, *SHAPED})),
    *((_FOREIGN, name) for name in (*_CODES, *_FAKE)),
)
"""Domain and operator."""
_OPSETS = (7, 9, 10, 11, 12, 13, 17, 18, 21, 23)
_SIZES = (0, 1, 1, 2, 3, 4, 6)
_INTEGERS = (0, 1, 1, 2, 3, 4, 6, -1, -2, 5, 2**31, 2**62, -(2**63))
_REALS = (0.0, 1.0, 0.5, 2.0, -1.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))
_TEXTS = ("", "SAME_UPPER", "VALID", "linear", "nearest", "reflect", "reverse", "CRD", "x", "tanh")
_TYPES = ("float32", "float32", "float32", "int64", "int64", "int32", "uint8", "int8", "bool")
_UNNAMED = ("axis", "num_heads", "epsilon", "alpha", "num_bits", "levels", "min", "max", "K", "N")
"""Attributes of operators without a schema."""


def model(number: int) -> onnx.ModelProto:
    """The file of a case."""
    rng = random.Random(number)
    domain, operator = rng.choice(OPERATORS)
    opset = rng.choice(_OPSETS)
    schema = None
    if onnx.defs.has(operator, opset, domain):
        schema = onnx.defs.get_schema(operator, opset, domain)
    least, most = (schema.min_input, schema.max_input) if schema else (0, 8)
    count = rng.randint(least, min(most, least + 3)) if rng.random() < 0.9 else rng.randrange(9)
    inputs, constants = [], []
    rank = rng.randrange(6)
    alike = [rng.choice(_SIZES[1:]) for _ in range(rank)]
    for place in range(count):
        name = f"i{place}"
        shape = alike if rng.random() < 0.5 else [rng.choice(_SIZES) for _ in range(_rank(rng))]
        dtype = "float32" if place == 0 and rng.random() < 0.8 else rng.choice(_TYPES)
        if place == 0 or rng.random() < 0.4:
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            inputs.append(helper.make_tensor_value_info(name, kind, shape))
        else:
            constants.append(numpy_helper.from_array(_array(rng, shape, dtype), name))
    names = [f"i{place}" if rng.random() < 0.97 else "" for place in range(count)]
    least, most = (schema.min_output, schema.max_output) if schema else (1, 4)
    outputs = [f"o{at}" for at in range(rng.randint(max(least, 0), min(most, least + 2)))]
    outputs = [name if rng.random() < 0.97 else "" for name in outputs]
    node = helper.make_node(operator, names, outputs, domain=domain)
    for name, kind in _attributes(schema):
        if rng.random() < 0.4:
            made = _attribute(rng, name, kind)
            node.attribute.extend([] if made is None else [made])
    ends = [onnx.ValueInfoProto(name=name) for name in outputs if name][:1]
    graph = helper.make_graph([node], "g", inputs, ends, constants)
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid(domain, 1)] if domain else []
    return helper.make_model(graph, opset_imports=opsets)


def judged(number: int, folder: Path) -> str:
    """The sentence by which the file of a case was refused, or nothing: then it was read.

    Anything else that it raises is a fault.
    """
    made = model(number)
    with watched():
        try:
            with np.errstate(all="ignore"):
                network = read(made)
                for constant in network.constants.values():
                    constant.value()
        except HexsimError as error:
            return str(error)
        try:
            network.check()
        except InvalidDataError as error:  # as the numbers of its attributes do: no .dlc holds it
            return str(error)
    return ""


def _rank(rng: random.Random) -> int:
    return rng.choice((0, 1, 1, 1, 2, 2, 3, 4, 5))


def _array(rng: random.Random, shape: list[int], dtype: str) -> np.ndarray:
    many = int(np.prod(shape))
    if np.dtype(dtype).kind == "f":
        values = [rng.choice(_REALS) if rng.random() < 0.1 else 0.5 for _ in range(many)]
    else:
        values = [rng.choice(_INTEGERS[:9]) for _ in range(many)]
        if dtype == "int64" and rng.random() < 0.1:
            values = [rng.choice(_INTEGERS) for _ in range(many)]
    return np.array(values).astype(dtype).reshape(shape)


def _attributes(schema: onnx.defs.OpSchema | None) -> list[tuple[str, int]]:
    if schema is None:
        kinds = (AttributeProto.INT, AttributeProto.FLOAT)
        return [(name, kinds[at % 2]) for name in _UNNAMED for at in range(1)]
    return [
        (name, int(attribute.type.value)) for name, attribute in sorted(schema.attributes.items())
    ]


def _attribute(rng: random.Random, name: str, kind: int) -> AttributeProto | None:
    many = rng.choice((0, 1, 2, 2, 3, 4, 6))
    small = _INTEGERS[:10] if rng.random() < 0.9 else _INTEGERS
    values: dict[int, Any] = {
        AttributeProto.INT: rng.choice(small),
        AttributeProto.FLOAT: rng.choice(_REALS),
        AttributeProto.STRING: rng.choice(_TEXTS),
        AttributeProto.INTS: [rng.choice(small) for _ in range(many)],
        AttributeProto.FLOATS: [rng.choice(_REALS) for _ in range(many)],
        AttributeProto.STRINGS: [rng.choice(_TEXTS) for _ in range(many)],
        AttributeProto.TENSOR: numpy_helper.from_array(_array(rng, [2], "float32"), ""),
    }
    if kind not in values:
        return None
    if values[kind] == []:
        return AttributeProto(name=name, type=kind)
    return helper.make_attribute(name, values[kind])
