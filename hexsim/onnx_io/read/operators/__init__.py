"""Translators turn one ONNX node into layers; one file per family of operators.

The table TRANSLATORS of a file lists the operators of the standard domain that it translates.

A translator takes the node and the network being built. It raises NotALayerError, before adding
anything, if hexsim has no layer for this form of the operator, and InvalidDataError if the node
does not fit its inputs. Any other exception is a bug of the translator. Translators support all
forms of an operator since opset 7.
"""

from collections.abc import Callable, Mapping

from hexsim.discovery import joined
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer

Translator = Callable[[OnnxNode, Importer], None]

TRANSLATORS: Mapping[str, Translator] = joined(__name__, "TRANSLATORS")
"""The translators by operator of the standard domain."""
