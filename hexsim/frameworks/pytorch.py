"""Converts files of PyTorch, exported programs (.pt2) and TorchScript, by PyTorch's exporters.

Not supported: pickled modules and weights, since reading them would run code in them.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from hexsim.errors import HexsimError, spelled
from hexsim.frameworks.archives import require_plain_archive
from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.foreign import Dims, Foreign
from hexsim.frameworks.torch_archives import require_no_code

_SCRIPT = str(Path(__file__).parent / "_torch_script.py")
_PROGRAM = str(Path(__file__).parent / "_torch_program.py")
_NAME = "PyTorch's exporter"
_FLOORS = (("torch", "2.9"),)
"""In earlier versions, weights_only was not safe (CVE-2025-32434, in 2.5 and earlier)."""
SCRIPT = Exporter(_NAME, "pytorch", ("torch", "onnxscript"), (_SCRIPT,), _FLOORS)
PROGRAM = Exporter(_NAME, "pytorch", ("torch", "onnxscript"), (_PROGRAM,), _FLOORS)


def read_program(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a program that torch.export.save has written."""
    require_no_code(path)
    PROGRAM.require(path, "an exported program of PyTorch")
    model = PROGRAM.run(path, [str(path.absolute())], "")
    return Foreign(model, input_dims=dims, output_names=output_names)


def read_script(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a TorchScript module; `dims` has names and shapes of its inputs, in order."""
    if not dims:
        raise HexsimError(
            f"'{path}' is a TorchScript module, which does not say what its inputs look like; give "
            f"each with {spelled('input_dims', {'NAME': (1, 3, 224, 224)})}, in order"
        )
    require_plain_archive(path)
    SCRIPT.require(path, "a TorchScript module")
    shapes = json.dumps({name: list(shape) for name, shape in dims.items()})
    return Foreign(SCRIPT.run(path, [str(path.absolute()), shapes], ""), output_names=output_names)
