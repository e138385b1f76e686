"""An opaque layer is the node that it holds, or is refused."""

import pytest
from onnx import helper

from hexsim.layers import Opaque
from hexsim.onnx_io.write.opaque_check import require_node

NODE = helper.make_node("Max", ["a", "", "b"], ["c"])
LAYER = Opaque(
    name="n",
    inputs=("a", "b"),
    outputs=("c",),
    op_type="Max",
    node=NODE.SerializeToString(),
    shapes=((1,),),
)


def test_the_node_of_a_layer_is_taken() -> None:
    require_node(LAYER)
    require_node(LAYER.replace(op_type="com.example.Max"))


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (LAYER.replace(node=b"\xff\xff"), "holds no ONNX node"),
        (LAYER.replace(op_type="Min"), "is 'Min', and its node a 'Max'"),
        (LAYER.replace(inputs=("a",)), "has 1 inputs, and its node reads 2"),
        (LAYER.replace(outputs=("c", "d")), "has 2 outputs, and its node writes 1"),
    ],
)
def test_another_is_refused(layer: Opaque, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        require_node(layer)
