"""Emitters: from one layer to ONNX operators in stored order, one file per family of layers."""

from __future__ import annotations

from hexsim.layers import Opaque
from hexsim.onnx_io.emitters import arrangement, colours, elements, images, matrices
from hexsim.onnx_io.emitters.opaque import emit_opaque
from hexsim.onnx_io.graph_builder import Emitters

EMITTERS: Emitters = {
    **arrangement.EMITTERS,
    **colours.EMITTERS,
    **elements.EMITTERS,
    **images.EMITTERS,
    **matrices.EMITTERS,
    Opaque: emit_opaque,
}
"""By layer type; an emitter takes the layer of that type."""
