"""Translates each layer type of Caffe to ONNX, one file per family.

The table TRANSLATORS of a file lists the layer types that it translates.
"""

from collections.abc import Callable, Mapping

from hexsim.discovery import joined
from hexsim.frameworks.caffe.description import CaffeLayer
from hexsim.frameworks.caffe.graph import CaffeGraph

TRANSLATORS: Mapping[str, Callable[[CaffeLayer, CaffeGraph], None]] = joined(
    __name__, "TRANSLATORS"
)
"""The translators by layer type."""
