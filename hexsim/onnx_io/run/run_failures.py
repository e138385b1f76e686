"""Turns errors of onnxruntime into one sentence: which node fails, why, and what to do.

The text of onnxruntime contains positions in its own sources. A user needs the reason, the node
and the operator; the text remains available as the cause of the exception.
"""

import re

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Opaque

_KINDS = (
    (r"Type Error|not allowed to be type|type inference", "does not take these element types"),
    (
        r"not a registered function|No Op registered|Unrecognized operator",
        "is unknown to it (--udl would say what it does)",
    ),
    (r"NOT_IMPLEMENTED|Could not find an implementation", "has no implementation in it"),
    (r"ShapeInferenceError|Incompatible dimensions|mismatch", "does not fit its inputs"),
    (r"allocat|bad_alloc|Failed to allocate", "needs more memory than there is"),
    (r"ONNX Runtime only \*guarantees\* support|opset", "is of an opset that it does not know"),
    (r"status code returned while running", "fails on these inputs"),
)
"""Patterns of the text, and the reason to report; the first that matches is used."""
_OTHERWISE = "has inputs or attributes that it does not take"

_NODES = (
    r"node with name '([^']*)'",
    r"Name:'([^']*)'",
    r"in node \(([^)]*)\)",
    r"Node:? \(([^)]*)\)",
    r"Node:([^ ]+) ",
)
_OPERATORS = (
    r"operator \(([\w.]+)\)",
    r"Op \(([\w.]+)\)",
    r"implementation for ([\w.]+)\(",
    r"running (\w+) node",
    r"Fatal error: ([\w.:]+)\(",
    r"Op registered for ([\w.]+)",
    r"onnxruntime::([A-Z]\w+)(?:<\w+>)?::\1\(",
)

_MOST_CHARACTERS = 10_000
"""Most characters of a text in which patterns are looked for; names in it may have any length."""


def refused(network: Network, error: Exception) -> HexsimError:
    """Build the error that says why onnxruntime does not run `network`."""
    text = str(error)[:_MOST_CHARACTERS]
    name, operator = _first(_NODES, text), _first(_OPERATORS, text).replace(":", ".")
    layer = next((layer for layer in network.layers if layer.name == name), None)
    if layer is not None:
        operator = layer.op_type if isinstance(layer, Opaque) else layer.type
    elif name.startswith("hexsim/"):  # written for a layer; its last part is the operator
        operator = operator or name.rpartition("/")[2]
    why = next((meaning for pattern, meaning in _KINDS if re.search(pattern, text)), _OTHERWISE)
    if layer is not None:
        culprit = f"node '{layer.name}' ({operator})"
    elif operator:
        culprit = f"operator {operator}"
    else:
        culprit, why = "the graph", "is not one that it can run"
    return HexsimError(
        f"onnxruntime cannot run network '{network.name}': {culprit} {why}; change the model, or "
        "end the network before that (--out-name)"
    )


def _first(patterns: tuple[str, ...], text: str) -> str:
    matches = (re.search(pattern, text) for pattern in patterns)
    return next((match[1] for match in matches if match), "")
