"""Benchmark networks as ONNX, with seeded weights: the structures of the published networks.

Each file without a leading underscore is one network, called like the file, with a function
`build`. The exception is conv1x1.py, a family of one-layer probes called by their size, such
as `conv1x1_1920to5120@113x1`. Structures, MACs and parameter counts are the published ones;
the weights are random, scaled so that activations stay in range and different inputs get
different classes. They say nothing about the accuracy of the trained networks. Those of `TRAINED`
are our own, small, and trained; `pictures` draws what they recognise.
"""

from __future__ import annotations

import os
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError, nearest, unknown
from hexsim.files.places import is_there

from . import conv1x1
from ._built import LOCATION, BuiltModel, materialise, write

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TRAINED = ("shapes_mobilenet", "shapes_mobilenet_friendly")
"""The networks with trained weights, whose answers to `pictures` are right or wrong."""


__all__ = [
    "LOCATION",
    "TRAINED",
    "BuiltModel",
    "build",
    "export",
    "is_name",
    "materialise",
    "names",
    "pictures",
    "reads_pictures",
    "require_model",
]


def names() -> tuple[str, ...]:
    """Return the names of the networks in alphabetical order, then the measured probes."""
    files = (module.name for module in pkgutil.iter_modules(__path__))
    networks = (name for name in files if not name.startswith("_") and name != "conv1x1")
    return (*sorted(networks), *conv1x1.MEASURED)


def is_name(name: str) -> bool:
    """Tell whether `name` asks for a built-in network, a probe of any size included."""
    return conv1x1.is_probe(name) or name in names()


def require_model(source: str) -> None:
    """Raise HexsimError unless `source` is a path that exists, or asks for a built-in network."""
    if is_there(source) or is_name(source):
        return
    if (path := Path(source)).suffix or len(path.parts) > 1:
        raise HexsimError(
            f"no such file: '{source}'; give a .dlc or ONNX file, or a network's name"
        )
    raise HexsimError(
        f"'{source}' is neither a file nor a built-in network; {nearest(source, names())}"
    )


def build(name: str) -> BuiltModel:
    """Return the network called `name`, its large weights still to be made.

    Any `conv1x1_<input channels>to<output channels>@<height>x<width>` is known beside `names()`.
    Raises HexsimError if the name is unknown.
    """
    if conv1x1.is_probe(name):
        return conv1x1.build(name)
    if name not in names():
        raise unknown("network", name, names())
    built: BuiltModel = import_module(f"{__name__}.{name}").build()
    return built


def pictures(count: int, seed: int) -> tuple[npt.NDArray[np.float32], tuple[tuple[int, ...], ...]]:
    """Return pictures for a network of `TRAINED`, (count, 3, 32, 32), and the class of each.

    They were not trained on. Picture i depends on `seed`, below 1000, and i alone.
    """
    from ._shapes import draw

    drawn, classes = draw(count, seed)
    return drawn, tuple((int(index),) for index in classes)


def reads_pictures(name: str, shape: tuple[int, ...]) -> bool:
    """Return whether the input of a network, by its name and shape (ONNX), takes `pictures`.

    It does too in a file that was made of a network of `TRAINED`.
    """
    from ._shapes import INPUT, SIZE

    return name == INPUT and shape == (1, 3, SIZE, SIZE)


def export(name: str, path: str | os.PathLike[str]) -> None:
    """Write the network called `name` to `path` as one self-contained ONNX file.

    Raises HexsimError if the name is unknown or the place cannot be written.
    """
    write(build(name), path)
