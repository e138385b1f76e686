"""Networks of odd counts: no nodes, unused inputs, outputs that are inputs or constants.

A case is told by its number alone.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import hexsim
from benchmarks.conformity_commands import COMMANDS, run, write_inputs
from hexsim.errors import HexsimError
from tests.fuzz.containers import Parts, good, nodes
from tests.fuzz.watch import watched

SHAPE = (1, 2, 3)
_UNARY = ("Relu", "Neg", "Sigmoid", "Identity", "Sin", "Dropout")
Way = Literal["empty", "of another kind", "first item twice"]
_BINARY = ("Add", "Mul", "Sub", "Max")


def graph_of(number: int) -> onnx.ModelProto:
    """A small graph, whose outputs are any of its names, and of which much may be unused."""
    rng = random.Random(number)
    inputs = [f"x{index}" for index in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3)))]
    weights = [f"w{index}" for index in range(rng.choice((0, 1, 2)))]
    names, made = [*inputs, *weights], []
    for index in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 5, 5))):
        name = f"t{index}"
        if rng.random() < 0.15 or not names:
            value = numpy_helper.from_array(_values(index))
            made.append(helper.make_node("Constant", [], [name], value=value))
        elif rng.random() < 0.5:
            made.append(helper.make_node(rng.choice(_UNARY), [rng.choice(names)], [name]))
        else:
            pair = [rng.choice(names), rng.choice(names)]
            made.append(helper.make_node(rng.choice(_BINARY), pair, [name]))
        names.append(name)
    outputs = (
        [rng.choice(names) for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3)))] if names else []
    )
    if rng.random() < 0.8:
        outputs = list(dict.fromkeys(outputs))
    infos = [
        [helper.make_tensor_value_info(name, 1, SHAPE) for name in group]
        for group in (inputs + [w for w in weights if rng.random() < 0.2], outputs)
    ]
    constants = [numpy_helper.from_array(_values(index), w) for index, w in enumerate(weights)]
    graph = helper.make_graph(made, "counts", *infos, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _values(index: int) -> np.ndarray:
    return np.linspace(-1, 1 + index, 6, dtype=np.float32).reshape(SHAPE)


def judged(number: int, folder: Path) -> str:
    """The sentences by which a graph was refused, or nothing: then all values are right.

    Raises AssertionError for other values than those of onnxruntime.
    """
    made = graph_of(number)
    path = folder / "m.onnx"
    path.write_bytes(made.SerializeToString())
    rng = random.Random(number)
    with contextlib.chdir(folder), watched(120):
        said = [_compared(path)]
        write_inputs(path)
        effect, output = run(COMMANDS[rng.choice(list(COMMANDS))])
        assert effect != "failed", output
    return " || ".join((*said, output))


def _compared(path: Path) -> str:
    """Compare the values of the library with those of onnxruntime."""
    try:
        model = hexsim.load(path)
        feed = {name: _values(2 + at) for at, name in enumerate(model.network.inputs)}
        outputs = hexsim.simulate(model, runtime="cpu", inputs=feed, chip="sd835").outputs
        codes = hexsim.simulate(hexsim.quantize(model, [feed]), inputs=feed, chip="sd835").outputs
    except HexsimError as error:
        return str(error)
    assert outputs is not None
    assert codes is not None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it warns of what is unused
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    needed = {tensor.name: _values(2) for tensor in session.get_inputs()} | feed
    names = [tensor.name for tensor in session.get_outputs()]
    kept = [name for name in dict.fromkeys(names) if name in outputs or _varies(path, name)]
    assert [*outputs] == [*codes] == kept
    given = {tensor.name: needed[tensor.name] for tensor in session.get_inputs()}
    for name, right in zip(names, session.run(None, given), strict=True):
        if name not in kept:
            continue
        np.testing.assert_allclose(outputs[name], right, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(codes[name], right, atol=0.3, err_msg=name)
    return ""


def _varies(path: Path, output: str) -> bool:
    """True if an output depends on an input; a constant one is left out."""
    graph = onnx.load(path).graph
    varying = {value.name for value in graph.input} - {array.name for array in graph.initializer}
    for node in graph.node:
        if varying & {*node.input}:
            varying |= {*node.output}
    return output in varying


@dataclass(frozen=True)
class Emptied:
    """A good .dlc file in which one object or list is to be changed, found by its position."""

    name: str
    parts: Parts
    place: int
    way: Way

    def made(self) -> Parts:
        """Return the changed file."""
        tree = copy.deepcopy(self.parts.model)
        node, key = next(itertools.islice(nodes(tree), self.place, None))
        held = node[key]
        if self.way == "first item twice" and isinstance(held, list):
            node[key] = [held[0], *held]
        else:
            node[key] = {} if isinstance(held, dict) ^ (self.way == "of another kind") else []
        return replace(self.parts, model=tree)


def emptied() -> Iterator[Emptied]:
    """Every object and list of all good .dlc files that is not empty, in every way."""
    for name, parts in good():
        for place, (node, key) in enumerate(nodes(parts.model)):
            if isinstance(node[key], dict | list) and node[key]:
                for way in get_args(Way):
                    yield Emptied(name, parts, place, way)
