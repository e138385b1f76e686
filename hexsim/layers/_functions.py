"""Element-wise functions: their values, and whether these may be negative.

On the DSP each is a table of quantised values (codes). `hexsim.datasheets.operators` has the
functions of each release.
"""

import math
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Sign
from hexsim.graph.support import EVERYWHERE, MADE_OF_HTA_LAYERS, NO_HTA_FUNCTION, Support
from hexsim.records import dataclass

Real = npt.NDArray[np.float64]
NeuronFunction = Literal[
    "clamp",
    "leaky_relu",
    "sigmoid",
    "tanh",
    "elu",
    "hard_sigmoid",
    "hard_swish",
    "abs",
    "ceil",
    "cos",
    "erf",
    "exp",
    "floor",
    "gelu",
    "gelu_tanh",
    "log",
    "mish",
    "neg",
    "pow",
    "reciprocal",
    "round",
    "rsqrt",
    "silu",
    "sin",
    "softplus",
    "softsign",
    "sqrt",
    "square",
]


@dataclass(frozen=True)
class Function:
    """`values` takes real numbers, alpha and beta; undefined results are NaN."""

    values: Callable[[Real, float, float], Real]
    sign: Sign
    support: Support = NO_HTA_FUNCTION


def _sigmoid(x: Real) -> Real:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -700, 700))))


def _erf(x: Real) -> Real:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64)


def _softplus(x: Real) -> Real:
    return np.asarray(np.logaddexp(0, x))


def _tanh_gelu(x: Real) -> Real:
    return np.asarray(x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


FUNCTIONS: Mapping[NeuronFunction, Function] = {
    "clamp": Function(lambda x, a, b: x, "as inputs", EVERYWHERE),
    "leaky_relu": Function(lambda x, a, b: np.where(x >= 0, x, a * x), "as inputs", EVERYWHERE),
    "sigmoid": Function(lambda x, a, b: _sigmoid(x), "unsigned", EVERYWHERE),
    "tanh": Function(lambda x, a, b: np.tanh(x), "as inputs", EVERYWHERE),
    "elu": Function(
        lambda x, a, b: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))), "as inputs"
    ),
    "hard_sigmoid": Function(
        lambda x, a, b: np.clip(a * x + b, 0, 1), "unsigned", MADE_OF_HTA_LAYERS
    ),
    "hard_swish": Function(lambda x, a, b: x * np.clip(x / 6 + 0.5, 0, 1), "as inputs", EVERYWHERE),
    "abs": Function(lambda x, a, b: np.abs(x), "unsigned"),
    "ceil": Function(lambda x, a, b: np.ceil(x), "as inputs"),
    "cos": Function(lambda x, a, b: np.cos(x), "signed"),
    "erf": Function(lambda x, a, b: _erf(x), "as inputs"),
    "exp": Function(lambda x, a, b: np.exp(x), "unsigned"),
    "floor": Function(lambda x, a, b: np.floor(x), "as inputs"),
    "gelu": Function(lambda x, a, b: x / 2 * (1 + _erf(x / math.sqrt(2))), "as inputs"),
    "gelu_tanh": Function(lambda x, a, b: _tanh_gelu(x), "as inputs"),
    "log": Function(lambda x, a, b: np.log(x), "signed"),
    "mish": Function(lambda x, a, b: x * np.tanh(_softplus(x)), "as inputs"),
    "neg": Function(lambda x, a, b: -x, "signed"),
    "pow": Function(lambda x, a, b: np.power(x, a), "signed"),
    "reciprocal": Function(lambda x, a, b: 1 / x, "as inputs"),
    "round": Function(lambda x, a, b: np.rint(x), "as inputs"),
    "rsqrt": Function(lambda x, a, b: 1 / np.sqrt(x), "unsigned"),
    "silu": Function(lambda x, a, b: x * _sigmoid(a * x), "as inputs", MADE_OF_HTA_LAYERS),
    "sin": Function(lambda x, a, b: np.sin(x), "signed"),
    "softplus": Function(lambda x, a, b: _softplus(x), "unsigned"),
    "softsign": Function(lambda x, a, b: x / (1 + np.abs(x)), "as inputs"),
    "sqrt": Function(lambda x, a, b: np.sqrt(x), "unsigned"),
    "square": Function(lambda x, a, b: np.square(x), "unsigned"),
}
"""Functions by name. The entry of clamp changes nothing, as its bounds are fields of the layer."""
