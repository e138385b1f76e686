"""Translators: from one ONNX node to layers, one file per family of operators.

A file says in its table TRANSLATORS which operators of the standard domain it translates.

A translator takes the node and the network being built. It raises NotALayerError, before adding
anything, if this form of the operator is no layer of ours; InvalidDataError if the node contradicts
its inputs. Any other exception is a bug of the translator. Where an operator changed between
opsets, its translator knows the forms since opset 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hexsim.discovery import joined
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer

Translator = Callable[[OnnxNode, Importer], None]

TRANSLATORS: Mapping[str, Translator] = joined(__name__, "TRANSLATORS")
"""By operator of the standard domain."""
