"""The layer types: one small file each; a layer type is added by adding a file.

The class name is the layer's name. A layer type has its attributes, its shape rule, its MACs, its
parameters, the targets that support it and the sentence why others do not. Its values are computed
elsewhere: in float by onnxruntime (hexsim.onnx_io.write.writer), in integers by hexsim.int8.

`TYPES` has all layer types. Those that other rooms use by name are exported by this package.
"""

from hexsim.discovery import classes
from hexsim.graph.ir import Layer
from hexsim.layers._clamp import NO_CLAMP, RELU, RELU6, Clamp
from hexsim.layers._filtering import Filtering
from hexsim.layers._weighted import Weighted
from hexsim.layers._window import Window
from hexsim.layers.arg_extremum import ArgExtremum
from hexsim.layers.batch_norm import BatchNorm
from hexsim.layers.channel_shuffle import ChannelShuffle
from hexsim.layers.colour_conversion import ColourConversion
from hexsim.layers.concat import Concat
from hexsim.layers.convert import Convert
from hexsim.layers.convolution import Convolution
from hexsim.layers.deconvolution import Deconvolution, Phases
from hexsim.layers.depth_to_space import DepthToSpace
from hexsim.layers.elementwise import Elementwise
from hexsim.layers.fully_connected import FullyConnected
from hexsim.layers.gather import Gather
from hexsim.layers.local_response_norm import LocalResponseNorm
from hexsim.layers.mat_mul import MatMul
from hexsim.layers.neuron import Neuron
from hexsim.layers.normalization import Normalization
from hexsim.layers.opaque import Opaque
from hexsim.layers.pad import Pad
from hexsim.layers.permute import Permute
from hexsim.layers.pooling import Pooling
from hexsim.layers.prelu import Prelu
from hexsim.layers.recurrent import Recurrent
from hexsim.layers.reduce import Reduce
from hexsim.layers.reshape import Reshape
from hexsim.layers.resize import Resize
from hexsim.layers.softmax import Softmax
from hexsim.layers.space_to_depth import SpaceToDepth
from hexsim.layers.strided_slice import AxisSlice, StridedSlice
from hexsim.layers.tile import Tile
from hexsim.layers.user_defined import UserDefined

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
