"""DepthToSpace and SpaceToDepth of images."""

from __future__ import annotations

from hexsim.layers import DepthToSpace, SpaceToDepth
from hexsim.layers.depth_to_space import BlockMode
from hexsim.onnx_io.axis_order import channels_last
from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.node import Node


def depth_to_space(node: Node, net: Importer) -> None:
    """DepthToSpace; before opset 11 it had one mode."""
    data = net.tensor(node.input(0), rank=4)
    net.add(
        DepthToSpace(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(node.output,),
            block=_block(node),
            mode=_mode(node),
        ),
        channels_last(4),
    )


def space_to_depth(node: Node, net: Importer) -> None:
    """SpaceToDepth; older opsets have one mode."""
    data = net.tensor(node.input(0), rank=4)
    net.add(
        SpaceToDepth(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(node.output,),
            block=_block(node),
            mode=_mode(node),
        ),
        channels_last(4),
    )


def _mode(node: Node) -> BlockMode:
    mode = node.text("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise ValueError(f"attribute mode has the unknown value '{mode}'")
    return "CRD" if mode == "CRD" else "DCR"


def _block(node: Node) -> int:
    block = node.integer("blocksize", 1)
    if block < 1:
        raise ValueError("blocksize must be at least 1")
    return block


TRANSLATORS = {"DepthToSpace": depth_to_space, "SpaceToDepth": space_to_depth}
