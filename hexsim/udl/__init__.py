"""Layers that users bring: ONNX operators that hexsim learns from a Python file or a package.

A file says for each operator what a `UserLayer` holds: the rule of its shapes, a function of
floats and, if there are any, one of integer codes and what the layer costs on a processor. Such a
file is code, and is run: only files that the user names are (`use_layers`), and packages that are
installed (entry points of the group `hexsim.layers`).

Left out: operators without inputs that vary, optional outputs, attributes that hold graphs.
"""

from hexsim.udl.definition import Cost, Node, Processor, Scale, UserLayer
from hexsim.udl.file import use_layers
from hexsim.udl.known import find

__all__ = ["Cost", "Node", "Processor", "Scale", "UserLayer", "find", "use_layers"]
