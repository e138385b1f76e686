"""DepthToSpace and SpaceToDepth of images."""

from functools import partial

from hexsim.errors import InvalidDataError
from hexsim.layers import DepthToSpace, SpaceToDepth
from hexsim.layers.depth_to_space import BlockMode
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer


def _blocks(node: OnnxNode, net: Importer, layer: type[DepthToSpace] | type[SpaceToDepth]) -> None:
    """Translate either operator; before opset 11 there is one mode."""
    data = net.tensor(node.input(0), rank=4)
    net.add(
        layer(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(node.output,),
            block=_block(node),
            mode=_mode(node),
        ),
        channels_last(4),
    )


def _mode(node: OnnxNode) -> BlockMode:
    mode = node.text("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise InvalidDataError(f"attribute mode has the unknown value '{mode}'")
    return "CRD" if mode == "CRD" else "DCR"


def _block(node: OnnxNode) -> int:
    block = node.integer("blocksize", 1)
    if block < 1:
        raise InvalidDataError("blocksize must be at least 1")
    return block


TRANSLATORS = {
    "DepthToSpace": partial(_blocks, layer=DepthToSpace),
    "SpaceToDepth": partial(_blocks, layer=SpaceToDepth),
}
