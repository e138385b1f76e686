"""Products of two computed matrices, or of batches of them."""

from hexsim.graph.ir import Shape
from hexsim.layers import MatMul
from hexsim.studies.probes._kind import KernelKind, Kinds, Sizes


def _operands(sizes: Sizes) -> tuple[Shape, ...]:
    batch, rows, depth, columns = sizes.get("b", 1), sizes["n"], sizes["c"], sizes["out"]
    return (batch, rows, depth), (batch, depth, columns)


KINDS: Kinds = {
    "matmul": KernelKind(
        r"((?P<b>\d+)x)?(?P<n>\d+)x(?P<c>\d+):(?P<out>\d+)",
        "196x64:196, or 12x196x64:196 for twelve of them",
        lambda sizes: MatMul(name="matmul", inputs=("a", "b"), outputs=("out",)),
        operands=_operands,
    ),
}
