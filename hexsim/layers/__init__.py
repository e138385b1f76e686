"""The layer types, a file for each family; a layer type may be added by adding a file.

The class name is the layer's name. A layer type has its attributes, its shape rule, its MACs, its
parameters, the targets that support it and the sentence why others do not. Its values are computed
elsewhere: in float by onnxruntime (hexsim.onnx_io.write.writer), in integers by hexsim.int8.

`TYPES` has all layer types. Those that other rooms use by name are exported by this package.
"""

from hexsim.discovery import classes
from hexsim.graph.ir import Layer
from hexsim.layers._bases import NO_CLAMP, RELU, RELU6, Clamp, Filtering, Window
from hexsim.layers.elementwise import Convert, Elementwise, Neuron, Prelu
from hexsim.layers.images import ColourConversion, Pooling, Resize
from hexsim.layers.normalization import BatchNorm, LocalResponseNorm, Normalization, Softmax
from hexsim.layers.onnx_nodes import Opaque, UserDefined
from hexsim.layers.products import (
    Convolution,
    Deconvolution,
    FullyConnected,
    MatMul,
    Phases,
    Weighted,
)
from hexsim.layers.rearrangement import ChannelShuffle, DepthToSpace, Permute, Reshape, SpaceToDepth
from hexsim.layers.recurrent import Recurrent
from hexsim.layers.reduce import ArgExtremum, Reduce
from hexsim.layers.slices import AxisSlice, Concat, Gather, Pad, StridedSlice, Tile

__all__ = [
    "NO_CLAMP",
    "RELU",
    "RELU6",
    "TYPES",
    "ArgExtremum",
    "AxisSlice",
    "BatchNorm",
    "ChannelShuffle",
    "Clamp",
    "ColourConversion",
    "Concat",
    "Convert",
    "Convolution",
    "Deconvolution",
    "DepthToSpace",
    "Elementwise",
    "Filtering",
    "FullyConnected",
    "Gather",
    "LocalResponseNorm",
    "MatMul",
    "Neuron",
    "Normalization",
    "Opaque",
    "Pad",
    "Permute",
    "Phases",
    "Pooling",
    "Prelu",
    "Recurrent",
    "Reduce",
    "Reshape",
    "Resize",
    "Softmax",
    "SpaceToDepth",
    "StridedSlice",
    "Tile",
    "UserDefined",
    "Weighted",
    "Window",
]

TYPES = classes(__name__, Layer)
"""Every layer type, by name."""
