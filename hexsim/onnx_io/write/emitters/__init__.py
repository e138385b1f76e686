"""Emitters write one layer as ONNX operators in stored order; one file per family of layers.

The table EMITTERS of a file lists the layer types that it writes.
"""

from hexsim.discovery import joined
from hexsim.onnx_io.write.graph_builder import Emitters

EMITTERS: Emitters = joined(__name__, "EMITTERS")
"""The emitters by layer type."""
