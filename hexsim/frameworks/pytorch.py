"""Files of PyTorch: exported programs (.pt2) and TorchScript, through PyTorch's own exporters.

Left out: pickled modules and weights. To read them is to run what they hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.frameworks.archives import require_plain_archive
from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.foreign import Foreign
from hexsim.frameworks.torch_archives import require_no_code

_SCRIPT = str(Path(__file__).parent / "_torch_script.py")
_PROGRAM = str(Path(__file__).parent / "_torch_program.py")
_NAME = "PyTorch's exporter"
_FLOORS = (("torch", "2.9"),)
"""Before, unpickling tensors only was no promise (CVE-2025-32434, in 2.5 and earlier)."""
SCRIPT = Exporter(_NAME, "pytorch", ("torch", "onnxscript"), (_SCRIPT,), _FLOORS)
PROGRAM = Exporter(_NAME, "pytorch", ("torch", "onnxscript"), (_PROGRAM,), _FLOORS)


def read_program(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a program that torch.export.save has written."""
    require_no_code(path)
    PROGRAM.require(path, "an exported program of PyTorch")
    model = PROGRAM.run(path, [str(path.absolute())], "")
    return Foreign(model, input_dims=dims, output_names=ends)


def read_script(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a TorchScript module, whose inputs, in order, are named and shaped by `dims`."""
    if not dims:
        raise HexsimError(
            f"'{path}' is a TorchScript module, which does not say what its inputs look like; give "
            "each with --input-dim NAME 1,3,224,224, in order"
        )
    require_plain_archive(path)
    SCRIPT.require(path, "a TorchScript module")
    shapes = json.dumps({name: list(shape) for name, shape in dims.items()})
    return Foreign(SCRIPT.run(path, [str(path.absolute()), shapes], ""), output_names=ends)
