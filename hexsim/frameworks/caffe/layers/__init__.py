"""Translates each layer type of Caffe to ONNX, one file per family.

The table TRANSLATORS of a file lists the layer types that it translates, and COUNTS how many
bottoms and tops those of them have that have not one of each.
"""

from collections.abc import Callable, Mapping

from hexsim.discovery import joined
from hexsim.frameworks.caffe.description import CaffeLayer
from hexsim.frameworks.caffe.graph import CaffeGraph

TRANSLATORS: Mapping[str, Callable[[CaffeLayer, CaffeGraph], None]] = joined(
    __name__, "TRANSLATORS"
)
"""The translators by layer type."""
COUNTS: Mapping[str, tuple[int | None, int | None]] = joined(__name__, "COUNTS")
"""The numbers of bottoms and tops; None means at least one."""
