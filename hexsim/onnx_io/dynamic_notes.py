"""Notes about nodes that quantise dynamically in the file, and not in the network."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hexsim.onnx_io.file.node import OnnxNode

_NAMED = 3
"""How many nodes a note names; `hexsim info --imports --json` lists all of them."""
_UNSIMULATED = "the codes that its activations get from the range of each input are not simulated"
_PRODUCT = f"computed in real numbers: its weights are dequantised, and {_UNSIMULATED}"
_WHAT = {
    "DynamicQuantizeLinear": f"left out: {_UNSIMULATED.replace('its activations get', 'it makes')}",
    "ConvInteger": _PRODUCT,
    "MatMulInteger": _PRODUCT,
    "com.microsoft.DynamicQuantizeLSTM": _PRODUCT,
    "com.microsoft.DynamicQuantizeMatMul": _PRODUCT,
    "com.microsoft.MatMulIntegerToFloat": _PRODUCT,
    "com.microsoft.QAttention": _PRODUCT,
}
"""What becomes of a node that was expanded."""
_ALWAYS = ("DynamicQuantizeLinear", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul")
"""Operators that always quantise dynamically; the others only if they read such codes."""


def dynamic_notes(expanded: Sequence[OnnxNode]) -> Iterator[str]:
    """Yield a note for each operator of `expanded` whose arithmetic differs from the file's."""
    quantize = [node for node in expanded if node.op_type == "DynamicQuantizeLinear"]
    dynamic = {name for node in quantize for name in node.outputs}
    names = defaultdict(list)
    for node in expanded:
        if node.op_type in _WHAT and (node.standard in _ALWAYS or node.input(0) in dynamic):
            names[node.op_type].append(f"'{node.name}'")
    for operator, nodes in names.items():
        more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
        subject = "node" if len(nodes) == 1 else "each of the nodes"
        yield f"{subject} {', '.join(nodes[:_NAMED])}{more} ({operator}) is {_WHAT[operator]}"
