"""Random chains of element-wise operators, as networks write them, with constants of any size.

Constants are from 1e-12 to 1e4: any number, one that known functions have, or one almost like it.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.conftest import Arrays, make_model

SHAPES = ((2, 3, 4), (1, 3, 4, 5), (2, 12), (1, 5, 8))
KNOWN = (
    *(0.0, 0.5, 1.0, 2.0, 3.0, 6.0, -1.0, -0.5, -2.0, -3.0, 0.1, 0.01, 0.2, 1e-5, 1e-6, 1e-12),
    *(1 / 6, 1 / 3, math.sqrt(2), math.sqrt(0.5), 0.044715, math.sqrt(2 / math.pi), 1.702),
)
UNARY = (
    *("Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Erf", "Softplus", "Softsign", "HardSwish"),
    *("Exp", "Log", "Sqrt", "Reciprocal", "LeakyRelu", "Elu", "HardSigmoid", "Floor"),
)
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min")
TEMPLATES: Sequence[str] = (
    # result, operator, operands: x is the input, numbers are constants
    "g=Sigmoid x; y=Mul x g",
    "a=Mul x 1.702; g=Sigmoid a; y=Mul g x",
    "n=Neg x; e=Exp n; a=Add e 1; y=Div 1 a",
    "n=Neg x; e=Exp n; a=Add e 1; y=Div x a",
    "e=Exp x; a=Add 1 e; y=Log a",
    "e=Exp x; a=Add e 1; l=Log a; t=Tanh l; y=Mul x t",
    "s=Softplus x; t=Tanh s; y=Mul x t",
    "b=Abs x; n=Neg b; e=Exp n; a=Add e 1; l=Log a; r=Relu x; y=Add r l",
    f"d=Div x {math.sqrt(2)}; f=Erf d; a=Add f 1; m=Mul x a; y=Mul m 0.5",
    f"d=Mul x {math.sqrt(0.5)}; f=Erf d; a=Add f 1; h=Mul x 0.5; y=Mul h a",
    f"p=Pow x 3; c=Mul p 0.044715; s=Add x c; m=Mul s {math.sqrt(2 / math.pi)}; t=Tanh m; "
    "a=Add t 1; h=Mul x 0.5; y=Mul h a",
    "a=Add x 3; c=Clip a 0 6; m=Mul x c; y=Div m 6",
    f"a=Add x 3; c=Clip a 0 6; m=Mul c {1 / 6}; y=Mul x m",
    "a=Add x 3; c=Clip a 0 6; y=Div c 6",
    "m=Mul x 0.1; y=Max x m",
    "a=Abs x; s=Add a 1; y=Div x s",
    "r=Relu x; e=Exp x; o=Sub e 1; n=Min o 0; y=Add r n",
    "n=Neg x; y=Max x n",
    "y=Clip x -1 1",
    "a=Max x -3; y=Min a 3",
    "a=Abs x; e=Add a 1e-6; y=Log e",
    "a=Mul x x; e=Add a 1e-6; y=Div 1 e",
    "a=Mul x x; e=Add a 1e-12; s=Sqrt e; y=Div x s",
    "a=Abs x; c=Clip a 1e-7 1; y=Log c",
    "a=Abs x; s=Sqrt a; y=Div 1 s",
    "m=Mean x; d=Sub x m; q=Pow d 2; v=Mean q; e=Add v 1e-5; r=Sqrt e; y=Div d r",
    "m=Mean x; d=Sub x m; f=Sub x m; q=Mul f f; v=Mean q; e=Add v 1e-6; r=Sqrt e; i=Div 1 r; "
    "y=Mul d i",
    "q=Mul x x; v=Mean q; e=Add v 1e-6; r=Sqrt e; i=Reciprocal r; y=Mul x i",
    "q=Pow x 2; v=Mean q; e=Add v 1e-12; r=Sqrt e; y=Div x r",
    "q=Mul x x; v=Total q; r=Sqrt v; c=Max r 1e-12; y=Div x c",
    "q=Mul x x; v=Total q; e=Add v 1e-12; r=Sqrt e; y=Div x r",
    "v=Length x; c=Clip v 1e-12 1e4; y=Div x c",
    "m=Mean x; d=Sub x m; q=Mul d d; v=Mean q; r=Sqrt v; e=Add r 1e-6; y=Div d e",
    "m=Peak x; d=Sub x m; e=Exp d; s=Total e; l=Log s; y=Sub d l",
    "m=Peak x; d=Sub x m; e=Exp d; s=Total e; y=Div e s",
    "m=Total x; a=Add m 1e-7; y=Div x a",
)
REDUCED = {"Mean": "ReduceMean", "Total": "ReduceSum", "Peak": "ReduceMax", "Length": "ReduceL2"}


class Chain:
    """The nodes and constants of a random chain."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, npt.ArrayLike] = {}
        self.tensors = ["x"]
        self.shape = SHAPES[self.rng.integers(len(SHAPES))]

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return its output."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def constant(self, value: npt.ArrayLike) -> str:
        """Add a constant and return its name."""
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def number(self, like: float | None = None) -> float:
        """Return a constant; mostly `like`, if that is given, or almost like it."""
        draw = self.rng.random()
        known = KNOWN[self.rng.integers(len(KNOWN))] if like is None else like
        if like is not None and draw < 0.75:
            return float(np.float16(like)) if draw < 0.03 else like
        if draw < 0.4:
            return known
        if draw < 0.55 or (like is not None and draw < 0.82):
            return known * (1 + self.sign() * 10 ** self.rng.uniform(-6, -1))
        if draw < 0.7 or (like is not None and draw < 0.94):
            return known + self.sign() * 10 ** self.rng.uniform(-12, -2)
        return self.sign() * float(10 ** self.rng.uniform(-12, 4))

    def sign(self) -> float:
        """Return 1 or -1."""
        return float(self.rng.choice([-1.0, 1.0]))

    def unary(self, x: str) -> str:
        """Add a function of `x`."""
        operator = str(self.rng.choice(UNARY))
        if operator in ("Log", "Sqrt") and self.rng.random() < 0.8:
            x = self.add("Abs", x)
        alpha = abs(self.number()) or 1.0
        if operator in ("LeakyRelu", "Elu"):
            return self.add(operator, x, alpha=alpha)
        if operator == "HardSigmoid":
            return self.add(operator, x, alpha=alpha, beta=self.number())
        return self.add(operator, x)

    def binary(self, x: str) -> str:
        """Add an operation of `x` and a constant or an earlier tensor."""
        second = self.constant(self.number())
        if self.rng.random() < 0.3:
            second = str(self.rng.choice(self.tensors))
        pair = [x, second] if self.rng.random() < 0.7 else [second, x]
        return self.add(str(self.rng.choice(BINARY)), *pair)

    def power(self, x: str) -> str:
        """Add a power, mostly of a positive number."""
        exponent = float(self.rng.choice([2, 3, 0.5, -1, -0.5, 1, 0, 1.5, self.number()]))
        base = x if exponent == int(exponent) or self.rng.random() < 0.2 else self.add("Abs", x)
        return self.add("Pow", base, self.constant(exponent))

    def clip(self, x: str) -> str:
        """Add a clip."""
        bounds = sorted([self.number(), self.number()])
        names = [self.constant(bound) if self.rng.random() < 0.8 else "" for bound in bounds]
        return self.add("Clip", x, *names)

    def where(self, x: str) -> str:
        """Add a choice between two tensors."""
        limit = self.add("Greater", x, self.constant(self.number()))
        other = self.constant(self.number())
        if self.rng.random() < 0.5:
            other = str(self.rng.choice(self.tensors))
        pair = [x, other] if self.rng.random() < 0.5 else [other, x]
        return self.add("Where", limit, *pair)

    def template(self, x: str) -> str:
        """Add the steps of a known function, some with other constants."""
        names = {"x": x}
        axes = [len(self.shape) - 1]
        if len(self.shape) == 4 and self.rng.random() < 0.5:
            axes = [2, 3]
        for step in str(self.rng.choice(TEMPLATES)).split("; "):
            result, form = step.split("=")
            operator, *operands = form.split()
            inputs = [
                names[operand] if operand in names else self.constant(self.number(float(operand)))
                for operand in operands
            ]
            if operator == "Clip":
                low, high = (float(np.asarray(self.constants[name])) for name in inputs[1:])
                self.constants[inputs[1]], self.constants[inputs[2]] = sorted([low, high])
            if operator == "Total":
                inputs.append(self.constant(np.array(axes)))
                names[result] = self.add("ReduceSum", *inputs, keepdims=1)
            elif operator in REDUCED:
                names[result] = self.add(REDUCED[operator], *inputs, axes=axes, keepdims=1)
            else:
                if operator == "Mul" and self.rng.random() < 0.3:
                    inputs.reverse()
                names[result] = self.add(operator, *inputs)
        return names["y"]

    def grow(self) -> None:
        """Add a step."""
        kinds = [self.unary, self.binary, self.power, self.clip, self.where, self.template]
        chances = [0.2, 0.35, 0.08, 0.06, 0.06, 0.25]
        step = kinds[self.rng.choice(len(kinds), p=chances)]
        self.tensors.append(step(self.tensors[-1]))

    def inputs(self) -> Arrays:
        """Return inputs: usual numbers, zeros, and numbers of any size."""
        kind = self.rng.random(self.shape)
        usual = self.rng.standard_normal(self.shape) * 3
        sizes = 10.0 ** self.rng.uniform(-13, 3, self.shape)
        any_size = self.rng.choice([-1.0, 1.0], self.shape) * sizes
        tiny = usual * 10.0 ** -self.rng.integers(4, 12)
        x = np.where(kind < 0.4, usual, np.where(kind < 0.65, any_size, tiny))
        x[kind > 0.9] = 0
        return {"x": x.astype(np.float32)}


def chain(seed: int) -> tuple[onnx.ModelProto, Arrays]:
    """Return a random chain, and inputs for it."""
    made = Chain(seed)
    for _ in range(made.rng.integers(1, 7)):
        made.grow()
    model = make_model(made.nodes, {"x": made.shape}, [made.tensors[-1]], made.constants)
    return model, made.inputs()


def exact(model: onnx.ModelProto, inputs: Arrays) -> npt.NDArray[np.float64]:
    """Return the output of a chain in double precision, by the reference of ONNX."""
    double = onnx.ModelProto()
    double.CopyFrom(model)
    for value in (*double.graph.input, *double.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    for index, constant in enumerate(double.graph.initializer):
        array = numpy_helper.to_array(constant)
        if array.dtype == np.float32:
            wide = numpy_helper.from_array(array.astype(np.float64), constant.name)
            double.graph.initializer[index].CopyFrom(wide)
    with np.errstate(all="ignore"):
        results = ReferenceEvaluator(double).run(
            None, {name: x.astype(np.float64) for name, x in inputs.items()}
        )
    return np.asarray(results[0], np.float64)
