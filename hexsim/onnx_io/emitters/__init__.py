"""Emitters: from one layer to ONNX operators in stored order, one file per family of layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hexsim.graph.ir import Layer
from hexsim.onnx_io.emitters import arrangement, elements, images, matrices
from hexsim.onnx_io.emitters.opaque import emit_opaque
from hexsim.onnx_io.graph_builder import GraphBuilder
from hexsim.layers import Opaque

Emitter = Callable[[Any, GraphBuilder], None]

EMITTERS: Mapping[type[Layer], Emitter] = {
    **arrangement.EMITTERS,
    **elements.EMITTERS,
    **images.EMITTERS,
    **matrices.EMITTERS,
    Opaque: emit_opaque,
}
"""By layer type; an emitter takes the layer of that type."""
