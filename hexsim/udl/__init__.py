"""User-defined layers: ONNX operators that hexsim learns from a Python file or a package.

A file has a `UserLayer` for each operator: the rule of its shapes, a function of floats and, if
wanted, a function of integer codes (quantised values) and what the layer costs on a processor. Such
a file is code, and is run. Only files that the user names (`use_layers`) and installed packages
(entry points of the group `hexsim.layers`) are run.

Left out: operators without inputs that vary, optional outputs, attributes that hold graphs.
"""

from hexsim.udl.definition import Cost, Node, Processor, Scale, UserLayer
from hexsim.udl.known import find, use_layers

__all__ = ["Cost", "Node", "Processor", "Scale", "UserLayer", "find", "use_layers"]
