"""Input lists: the text files that name raw inputs, one set per line.

Grammar (snpe-net-run, snpe-dlc-quantize)
1. `#layer layer ...` may come first: output layers; `%tensor tensor ...` next: output tensors.
2. Every other line is one input set: `name:=path` for each input, in any order, or as many paths
   as the network has inputs, in their order. Paths are separated by spaces.
3. Blank lines are skipped. Paths are relative to the current folder.

A raw file holds float32 numbers, little endian, in stored order (an image: NHWC), no header.
Left out: several items in one file for a network of batch above one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hexsim.errors import HexsimError, unknown
from hexsim.graph.ir import FloatArray, Network, Tensor

_ITEM_BYTES = np.dtype("<f4").itemsize


@dataclass(frozen=True)
class InputSet:
    """One line: the file of each input, in the order of the network's inputs."""

    line: int
    files: Mapping[str, Path]


@dataclass(frozen=True)
class InputList:
    """A list that was read, and whose files were found to have the right size."""

    path: Path
    output_layers: tuple[str, ...]
    output_tensors: tuple[str, ...]
    sets: tuple[InputSet, ...]

    def arrays(self, network: Network) -> Iterator[dict[str, FloatArray]]:
        """Yield one set of inputs after the other, in stored order.

        Raises HexsimError for NaN or infinity, with line and file.
        """
        for inputs in self.sets:
            yield {name: self._array(network, name, inputs) for name in network.inputs}

    def _array(self, network: Network, name: str, inputs: InputSet) -> FloatArray:
        tensor, path = network.tensors[name], inputs.files[name]
        try:
            values = np.frombuffer(path.read_bytes(), "<f4").reshape(tensor.shape)
        except (OSError, ValueError) as error:
            raise _error(self.path, inputs.line, f"cannot read '{path}': {error}") from None
        if not np.isfinite(values).all():
            kind = "NaN" if np.isnan(values).any() else "infinite"
            what = f"'{path}' for input '{name}' holds {kind} values; write it again"
            raise _error(self.path, inputs.line, what)
        return values.astype(tensor.dtype)


def read_input_list(path: Path, network: Network) -> InputList:
    """Read the list at `path` for `network`; find all its files, read none.

    Raises HexsimError naming list, line and file for a line outside the grammar, an unknown
    name, a missing file and a file of the wrong size; also for an empty list.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise HexsimError(f"input list '{path}' is no text; give a list of file names") from None
    except OSError as error:
        raise HexsimError(f"cannot read input list '{path}': {error.strerror}") from None
    outputs: dict[str, tuple[str, ...]] = {"#": (), "%": ()}
    sets: list[InputSet] = []
    for number, text in enumerate(lines, start=1):
        words = text.split()
        if not words:
            continue
        mark = words[0][0]
        if mark not in outputs:
            sets.append(InputSet(number, _files(path, number, words, network)))
            continue
        if sets or outputs[mark] or (mark == "#" and outputs["%"]):
            what = "lines with # and % stand once each, in this order, before the first input"
            raise _error(path, number, what)
        outputs[mark] = _outputs(path, number, text, network)
    if not sets:
        raise HexsimError(f"input list '{path}' names no input; write one raw file per line")
    return InputList(path, outputs["#"], outputs["%"], tuple(sets))


def _outputs(path: Path, line: int, text: str, network: Network) -> tuple[str, ...]:
    """Names behind # (layers) or % (tensors)."""
    text = text.strip()
    names = tuple(text[1:].split())
    kind = "layer" if text[0] == "#" else "tensor"
    known = {la.name for la in network.layers} if kind == "layer" else set(network.tensors)
    for name in names:
        if name not in known:
            raise _error(path, line, str(unknown(kind, name, known)))
    return names


def _files(path: Path, line: int, words: list[str], network: Network) -> dict[str, Path]:
    """Input name -> file, in the order of the network's inputs."""
    if any(":=" in word for word in words):
        pairs = [word.split(":=", 1) for word in words if ":=" in word]
        given = {name: Path(file) for name, file in pairs}
        for name in given:
            if name not in network.inputs:
                raise _error(path, line, str(unknown("input", name, network.inputs)))
    else:
        given = dict(zip(network.inputs, map(Path, words), strict=False))
    if len(words) != len(network.inputs) or given.keys() != set(network.inputs):
        raise _error(
            path,
            line,
            f"{len(words)} files do not match the inputs of the network, which are "
            f"{', '.join(network.inputs)}; give each one file, as path or name:=path, separated "
            "by spaces",
        )
    for name in network.inputs:
        _check_size(path, line, given[name], network.tensors[name])
    return {name: given[name] for name in network.inputs}


def _check_size(path: Path, line: int, file: Path, tensor: Tensor) -> None:
    try:
        size = file.stat().st_size
    except OSError as error:
        what = f"cannot read '{file}': {error.strerror}"
        raise _error(path, line, f"{what}; paths start from the current folder") from None
    expected = tensor.elements * _ITEM_BYTES
    if size != expected:
        shape = "x".join(map(str, tensor.shape))
        raise _error(
            path,
            line,
            f"'{file}' has {size} bytes, input '{tensor.name}' needs {expected} "
            f"({shape} float32 numbers, little endian, channels last, without header)",
        )


def _error(path: Path, line: int, what: str) -> HexsimError:
    return HexsimError(f"input list '{path}', line {line}: {what}")
