"""A separate program: exports the Keras file argv[1] to ONNX of opset argv[2] in argv[3].

The name ends in .keras for Keras' own format and in .h5 for HDF5. Keras, and the check here,
choose the format by this ending. A file whose layers contain Python code is refused, because
reading them would run the code. So is one that names other files: HDF5 takes the data of an array
from any file that it names, and they would become weights.
"""

import io
import json
import os
import runpy
import sys
import zipfile
from collections.abc import Iterator
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
_MOST_ARRAY_BYTES = 1 << 31
"""Largest size of all arrays, in bytes; an ONNX file cannot have more."""


def main(source: str, opset: str, target: str) -> None:
    """Export `source` to `target`."""
    for weights in _hdf5(source):
        require_own_arrays(weights)
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


def _hdf5(source: str) -> Iterator[str | io.BytesIO]:
    """Yield all HDF5 data of a file as what h5py opens."""
    if not source.endswith(".keras"):
        yield source
        return
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            if entry.filename.lower().endswith(".h5"):
                if entry.file_size > _MOST_ARRAY_BYTES:
                    raise SystemExit("its weights have too many bytes")
                yield io.BytesIO(archive.read(entry))


def require_own_arrays(source: str | io.BytesIO) -> None:
    """Exit with a message unless all objects of HDF5 data, and their bytes, are in these data."""
    import h5py

    with h5py.File(source, "r") as file:
        pending, seen, size = [file["/"]], set(), 0
        while pending:
            group = pending.pop()
            for name in group:
                if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                    raise SystemExit(f"'{name[:60]}' in it is a link, perhaps to another file")
                item = group[name]
                address = h5py.h5o.get_info(item.id).addr
                if address in seen:
                    continue
                seen.add(address)
                if isinstance(item, h5py.Group):
                    pending.append(item)
                elif isinstance(item, h5py.Dataset):
                    if item.external or item.is_virtual:
                        raise SystemExit(f"array '{name[:60]}' in it has its data in other files")
                    size += item.nbytes
        if size > _MOST_ARRAY_BYTES:
            raise SystemExit("its arrays have too many bytes")


def require_no_code(config: Any) -> None:
    """Exit with a message if a part of the description is code or does not belong to Keras."""
    pending = [config]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            kind, module = node.get("class_name"), node.get("module")
            if kind in _CODE:
                raise SystemExit(f"parts of type {kind} are Python code, which is not run")
            if isinstance(node.get("vocabulary"), str):
                raise SystemExit("its words are in another file, which is not read")
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
