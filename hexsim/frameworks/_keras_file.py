"""A program of its own: exports the Keras file argv[1] to ONNX of opset argv[2] in argv[3].

A file whose layers hold Python code is refused: to read them is to run what they hold.
"""

import json
import runpy
import sys
import zipfile
from tempfile import TemporaryDirectory
from typing import Any

_CODE = frozenset({"Lambda", "__lambda__", "TorchModuleWrapper"})
"""Classes of parts that hold code."""


def main(source: str, opset: str, target: str) -> None:
    """Export `source` to `target`."""
    found = sorted(_CODE.intersection(_classes(_config(source))))
    if found:
        raise SystemExit(f"parts of type {', '.join(found)} are Python code, which is not run")
    import tensorflow

    model = tensorflow.keras.models.load_model(source, compile=False)
    with TemporaryDirectory(prefix="hexsim-") as folder:
        model.export(folder, verbose=False)
        words = ["--saved-model", folder, "--opset", opset, "--output", target]
        sys.argv = ["tf2onnx.convert", *words]
        runpy.run_module("tf2onnx.convert", run_name="__main__")


def _config(source: str) -> Any:
    """The description of the network, which is JSON in both formats."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            return json.loads(archive.read("config.json"))
    import h5py

    with h5py.File(source, "r") as file:
        if "model_config" not in file.attrs:
            raise SystemExit("the file holds weights and no network")
        return json.loads(file.attrs["model_config"])


def _classes(config: Any) -> set[str]:
    """All names of classes in a description."""
    inner = config.values() if isinstance(config, dict) else config
    if not isinstance(config, (dict, list)):
        return set()
    own = {config["class_name"]} if isinstance(config, dict) and "class_name" in config else set()
    return own.union(*map(_classes, inner))


if __name__ == "__main__":
    main(*sys.argv[1:])
