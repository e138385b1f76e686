"""What each layer type of Caffe becomes in ONNX, one file per family.

A file says in its table TRANSLATORS which layer types it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hexsim.discovery import joined
from hexsim.frameworks.caffe.description import CaffeLayer
from hexsim.frameworks.caffe.graph import CaffeGraph

TRANSLATORS: Mapping[str, Callable[[CaffeLayer, CaffeGraph], None]] = joined(
    __name__, "TRANSLATORS"
)
"""By layer type."""
