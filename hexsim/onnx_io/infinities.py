"""Makes infinite numbers in constants finite, as codes are.

Masks of attention layers add minus infinity to what a softmax should not see. Integers have no
infinity, and a very large number would leave no codes for the others. So what is added is no larger
than what a softmax already makes zero of.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.known import Array, Known
from hexsim.onnx_io.node import Node

LARGEST = 104.0
"""e^-104 is zero in single (our choice)."""
_ADDING = ("Add", "Sub", "Sum", "Where")
"""Operators whose constants may be masks."""
_MOST_ELEMENTS = 1 << 22
"""Larger constants are not looked at."""


def make_finite(node: Node, net: Importer) -> None:
    """Replace infinite elements of the constants that `node` adds or chooses, and note it."""
    if node.op_type not in _ADDING or all(name in net.known for name in node.inputs):
        return
    for name in node.inputs:
        known = net.known.get(name)
        if known is None or known.dtype != "float32" or math.prod(known.shape) > _MOST_ELEMENTS:
            continue
        array = known.read()
        infinite = int(np.isinf(array).sum())
        if infinite:
            finite = _finite(array)
            net.known[name] = Known(name, known.shape, known.dtype, partial(np.asarray, finite))
            net.notes.append(
                f"{infinite} infinite numbers of constant '{name}' become {LARGEST:g} "
                "with their sign"
            )


def _finite(array: Array) -> Array:
    return np.where(np.isinf(array), np.copysign(np.float32(LARGEST), array), array)
