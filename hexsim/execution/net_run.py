"""Net run: the outputs of a network for every input, as raw files.

`Result_<i>/<tensor>.raw` under the output folder holds one tensor of line i of an input list (or of
picture i). It has no header; its numbers are float32 unless another type is asked for, little
endian, in stored order (an image: NHWC). A slash in a tensor's name makes subfolders. Each line of
a batch has a result folder of its own; a line whose files hold a whole batch has one result for the
whole batch. A tensor whose size depends on values is written in the size that it has; in a batch,
the folder of each line holds all of it.

Source: snpe-net-run of SNPE 1.x (documented tree of files).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.execution.executors import ListExecutor
from hexsim.files.atomic_write import claim, clean_tree, write_bytes
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.output_names import tensors_named
from hexsim.inputs.raw_numbers import FLOATS
from hexsim.inputs.source import InputSource


def wanted(
    network: Network,
    layers: Sequence[str] = (),
    tensors: Sequence[str] = (),
    *,
    every: bool,
    reported: Callable[[str], None] = lambda remark: None,
) -> tuple[str, ...]:
    """Return the names of the outputs of `layers` (or `every` layer) and `tensors`, in this order.

    If nothing is named, they are the network's outputs. A layer's name among `tensors` stands for
    its outputs, and a tensor's name among `layers` for itself; `reported` is called with a remark
    then. Raises HexsimError for a name that `network` does not have.
    """
    named = [
        *(tensors_named(network, name, "layer") for name in layers),
        *(tensors_named(network, name, "tensor") for name in tensors),
    ]
    for outputs in named:
        if outputs.remark:
            reported(outputs.remark)
    of_all = [name for layer in network.layers for name in layer.outputs] if every else []
    names = (*of_all, *(name for outputs in named for name in outputs.tensors))
    return tuple(dict.fromkeys(names)) or network.outputs


def run(
    executor: ListExecutor,
    source: InputSource,
    folder: Path,
    names: Sequence[str],
    progress: Callable[[Sequence[str]], None] = lambda files: None,
    sized: Collection[str] = (),
    reported: Callable[[str], None] = lambda line: None,
    types: Mapping[str, str] | None = None,
) -> int:
    """Write tensors `names` of all results under `folder`; return the number of results.

    `progress` is called with the files of each inference before it is waited for. `reported` is
    called with the shape of each written tensor in `sized`, whose size depends on values, and with
    a warning for integers that the type of a file cannot hold exactly. `types` are the types of the
    numbers in the files of tensors that the executor does not give as float32. Raises HexsimError
    for an input that cannot be read and for a folder that cannot be written, before anything runs
    if that can be known; no file is left half written.
    """
    files = _files(names)
    results = source.items // source.items_per_line
    for old_result in folder.glob("Result_*"):
        clean_tree(old_result)
    claim(
        (folder / f"Result_{index}" / file for index in range(results) for file in files.values()),
        parents=True,
    )
    count = 0
    outputs = executor.run_each(source.feeds())
    for index in range(source.sets):
        progress(source.files[index])
        values = next(outputs)
        remaining = source.items - index * source.batch
        for result in _lines({name: values[name] for name in names}, source, remaining, sized):
            for name, array in result.items():
                path = folder / f"Result_{count}" / files[name]
                numbers, remark = _numbers(array, (types or {}).get(name, FLOATS))
                write_bytes(path, numbers.tobytes(), parents=True)
                if remark:
                    reported(f"{path}: {remark}")
                if name in sized:
                    reported(f"{path}: {'x'.join(map(str, array.shape))}")
            count += 1
    return count


def _numbers(
    array: npt.NDArray[np.generic], stored: str
) -> tuple[npt.NDArray[np.generic], str | None]:
    """Return the numbers of a file of type `stored`, and a warning if some are not exact."""
    numbers = array.astype(stored)
    if array.dtype.kind not in "iu" or numbers.dtype.kind != "f":
        return numbers, None
    with np.errstate(invalid="ignore"):  # a float may round beyond the largest integer
        inexact = np.flatnonzero(numbers.astype(array.dtype) != array)
    if not inexact.size:
        return numbers, None
    first = inexact[0]
    return numbers, (
        f"{array.flat[first]} is written as {numbers.flat[first]:.0f}, the nearest "
        f"number that {numbers.dtype.name} has; snpe-net-run writes {array.dtype.name} numbers "
        "as native output files"
    )


def _lines(
    values: Mapping[str, FloatArray], source: InputSource, remaining: int, sized: Collection[str]
) -> Iterator[Mapping[str, FloatArray]]:
    """Yield the results of the lines of one batch, without its padding.

    Tensors in `sized` are never divided.
    """
    batch, line_items = source.batch, source.items_per_line
    if line_items == batch:
        yield values
        return
    divided = {
        name
        for name, array in values.items()
        if array.ndim and array.shape[0] == batch and name not in sized
    }
    for item in range(min(batch, remaining)):
        yield {
            name: array[item : item + 1] if name in divided else array
            for name, array in values.items()
        }


def _files(names: Sequence[str]) -> dict[str, Path]:
    """Return the file of each tensor within the folder of a result."""
    files: dict[str, Path] = {}
    for name in names:
        parts = [part for part in name.split("/") if part]
        path = Path(*parts[:-1], f"{parts[-1]}.raw") if parts else Path(".raw")
        if not parts or {".", ".."} & set(parts) or path in files.values():
            raise HexsimError(
                f"tensor '{name}' cannot name a file of its own; rename it in the model, or choose "
                "other outputs"
            )
        files[name] = path
    return files
