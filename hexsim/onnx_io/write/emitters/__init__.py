"""Emitters: from one layer to ONNX operators in stored order, one file per family of layers.

A file says in its table EMITTERS which layer types it writes.
"""

from __future__ import annotations

from hexsim.discovery import joined
from hexsim.onnx_io.write.graph_builder import Emitters

EMITTERS: Emitters = joined(__name__, "EMITTERS")
"""By layer type; an emitter takes the layer of that type."""
