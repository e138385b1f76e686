"""A separate program: exports the Keras file argv[1] to ONNX of opset argv[2] in argv[3].

The name ends in .keras for Keras' own format and in .h5 for HDF5. Keras, and the check here,
choose the format by this ending. A file whose layers contain Python code is refused, because
reading them would run the code.
"""

import json
import os
import runpy
import sys
import zipfile
from tempfile import TemporaryDirectory
from typing import Any

_CODE = frozenset({"Lambda", "__lambda__", "TorchModuleWrapper", "TFSMLayer", "function"})
"""Classes of parts that contain code, or name a function or a file that contains it."""
_OWN = ("keras", "tensorflow.keras")
"""Modules, with their submodules, from which parts may come."""
_OUTSIDE = frozenset({"config", "saving", "utils", "export", "file_utils", "io_utils"})
"""Modules of Keras whose functions do not describe networks."""
_MOST_BYTES = 1 << 28
"""Largest size of a description, in bytes."""


def main(source: str, opset: str, target: str) -> None:
    """Export `source` to `target`."""
    require_no_code(_config(source))
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras

    model = keras.models.load_model(source, compile=False, safe_mode=True)
    with TemporaryDirectory(prefix="hexsim-") as folder:
        model.export(folder, verbose=False)
        words = ["--saved-model", folder, "--opset", opset, "--output", target]
        sys.argv = ["tf2onnx.convert", *words]
        runpy.run_module("tf2onnx.convert", run_name="__main__")


def _config(source: str) -> Any:
    """Return the description of the network, which is JSON in both formats."""
    if source.endswith(".keras"):
        with zipfile.ZipFile(source) as archive:
            if archive.getinfo("config.json").file_size > _MOST_BYTES:
                raise SystemExit("its description has too many bytes")
            return json.loads(archive.read("config.json"))
    import h5py

    with h5py.File(source, "r") as file:
        if "model_config" not in file.attrs:
            raise SystemExit("the file holds weights and no network")
        return json.loads(file.attrs["model_config"])


def require_no_code(config: Any) -> None:
    """Exit with a message if a part of the description is code or does not belong to Keras."""
    pending = [config]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            kind, module = node.get("class_name"), node.get("module")
            if kind in _CODE:
                raise SystemExit(f"parts of type {kind} are Python code, which is not run")
            if isinstance(module, str) and not _is_own(module):
                raise SystemExit(f"it has parts of module {module[:60]}, which is none of layers")
            pending += node.values()
        elif isinstance(node, list):
            pending += node


def _is_own(module: str) -> bool:
    is_within = any(module == own or module.startswith(f"{own}.") for own in _OWN)
    return is_within and _OUTSIDE.isdisjoint(module.split("."))


if __name__ == "__main__":
    main(*sys.argv[1:])
