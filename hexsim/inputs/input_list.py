"""Input lists: the text files that name raw inputs, one set per line.

Grammar (snpe-net-run, snpe-dlc-quantize)
1. `#layer layer ...` may come first: output layers; `%tensor tensor ...` next: output tensors. A
   tensor may be named among layers, and a layer among tensors (`hexsim.graph.output_names`).
2. Every other line is one input set: `name:=path` for each input, in any order, or as many paths
   as the network has inputs, in their order. Paths are separated by spaces.
3. Blank lines are skipped. Paths are relative to the current folder.

A raw file holds float32 numbers, little endian, in stored order (an image: NHWC), no header; for
an NV21 input it holds the bytes of the picture. The caller may give another type of numbers, such
as codes, which are quantised values (`hexsim.inputs.raw_numbers`).

4. A line is one set of inputs: each file holds all numbers of its input, whatever its axes mean.
5. If the network takes a batch of N (`batch_size`), every file may hold one item instead, and N
   lines make a set. A last batch that is not full is padded with its last item, so that calibration
   only sees values of the list; the outputs of padding are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, spelled, unknown
from hexsim.files.places import require_ordinary
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.output_names import tensors_named
from hexsim.inputs import raw_numbers
from hexsim.inputs.raw_numbers import stored_type
from hexsim.records import dataclass, field, replace
from hexsim.texts.text import lines, read_text, visible


@dataclass(frozen=True)
class InputLine:
    """One line: the file of each input, in the order of the network's inputs."""

    number: int
    files: Mapping[str, Path]


@dataclass(frozen=True)
class InputList:
    """A list whose files have the right size.

    `sets` are the lines of each inference: one, or up to a batch of single items. `items` is the
    number of items without padding.
    """

    path: Path
    output_layers: tuple[str, ...]
    output_tensors: tuple[str, ...]
    sets: tuple[tuple[InputLine, ...], ...]
    items: int
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> tuple[InputLine, ...]:
        """All lines that name inputs."""
        return tuple(line for line_set in self.sets for line in line_set)

    def arrays(self, network: Network) -> Iterator[dict[str, FloatArray]]:
        """Yield the sets of inputs, in stored order.

        Raises HexsimError with line and file for NaN, infinity and numbers that the input's type
        does not have.
        """
        for index in range(len(self.sets)):
            yield self.feed(network, index)

    def feed(self, network: Network, index: int) -> dict[str, FloatArray]:
        """Return one set of inputs, as `arrays` yields it."""
        return {name: self._array(network, name, self.sets[index]) for name in network.inputs}

    def absolute(self) -> InputList:
        """Return the same list with absolute paths."""
        return replace(self, sets=tuple(tuple(map(_absolute, lines)) for lines in self.sets))

    def _array(self, network: Network, name: str, lines: tuple[InputLine, ...]) -> FloatArray:
        tensor = network.tensors[name]
        items = [self._values(network, name, line) for line in lines]
        missing = tensor.elements - sum(item.size for item in items)
        items += items[-1:] * (missing // max(1, items[-1].size))
        joined = np.concatenate(items).reshape(tensor.shape)
        return joined.astype(tensor.dtype, copy=False)

    def _values(self, network: Network, name: str, line: InputLine) -> npt.NDArray[np.generic]:
        path = line.files[name]
        try:
            values = raw_numbers.read(path, network, name, self.types)
        except (OSError, ValueError) as error:
            raise _error(self.path, line.number, f"cannot read '{path}': {error}") from None
        fault = raw_numbers.fault(values, network, name)
        if fault is not None:
            message = f"'{path}' for input '{name}' holds {fault}"
            raise _error(self.path, line.number, message)
        return values


def _absolute(line: InputLine) -> InputLine:
    return replace(line, files={name: file.absolute() for name, file in line.files.items()})


def read_input_list(
    path: Path,
    network: Network,
    types: Mapping[str, str] | None = None,
    place: Callable[[Path], Path] = Path,
) -> InputList:
    """Read the list at `path` for `network`; check all its files without reading them.

    `types` are the types of the numbers in files of inputs that are not float32. `place` maps a
    path of the list to the real path. Raises HexsimError naming list, line and file for a line
    outside the grammar, an unknown name, a missing file and a file of the wrong size; also for an
    empty list.
    """
    outputs: dict[str, tuple[str, ...]] = {"#": (), "%": ()}
    input_lines: list[InputLine] = []
    types = types or {}
    batch = batch_size(network)
    items_each: int | None = None if batch > 1 else 1
    for number, text in _lines(path):
        words = text.split()
        mark = words[0][0]
        if mark not in outputs:
            files = _files(path, number, words, network)
            line = InputLine(number, {name: place(file) for name, file in files.items()})
            items_each = items_each or _items_in(line, network, batch, types)
            for name in network.inputs:
                _check_size(path, line, network, (name, types), batch, items_each)
            input_lines.append(line)
            continue
        if input_lines or outputs[mark] or (mark == "#" and outputs["%"]):
            message = "lines with # and % stand once each, in this order, before the first input"
            raise _error(path, number, message)
        outputs[mark] = _outputs(path, number, text, network)
    if not input_lines or items_each is None:
        raise HexsimError(f"input list '{path}' names no input; write one raw file per line")
    sets = tuple(_grouped(input_lines, batch // items_each))
    return InputList(path, outputs["#"], outputs["%"], sets, len(input_lines) * items_each, types)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    return lines(read_text(path, "input list", "give a list of file names", by_line=True))


def _outputs(path: Path, line: int, text: str, network: Network) -> tuple[str, ...]:
    """Return the names behind # (layers) or % (tensors)."""
    text = text.strip()
    names = tuple(map(visible, text[1:].split()))
    for name in names:
        try:
            tensors_named(network, name, "layer" if text[0] == "#" else "tensor")
        except HexsimError as error:
            raise _error(path, line, str(error)) from None
    return names


def _files(path: Path, line: int, words: list[str], network: Network) -> dict[str, Path]:
    if any(":=" in word for word in words):
        pairs = [word.split(":=", 1) for word in words if ":=" in word]
        file_of = {visible(name): Path(file) for name, file in pairs}
        for name in file_of:
            if name not in network.inputs:
                raise _error(path, line, str(unknown("input", name, network.inputs)))
    else:
        file_of = dict(zip(network.inputs, map(Path, words), strict=False))
    if len(words) != len(network.inputs) or file_of.keys() != set(network.inputs):
        raise _error(
            path,
            line,
            f"{len(words)} files do not match the inputs of the network, which are "
            f"{', '.join(network.inputs)}; give each one file, as path or name:=path, separated "
            "by spaces",
        )
    return {name: file_of[name] for name in network.inputs}


def _grouped(lines: list[InputLine], size: int) -> Iterator[tuple[InputLine, ...]]:
    for start in range(0, len(lines), size):
        yield tuple(lines[start : start + size])


def _items_in(line: InputLine, network: Network, batch: int, types: Mapping[str, str]) -> int:
    """Return 1 if the first file of a batched network holds one item, else the batch."""
    name = network.inputs[0]
    try:
        size = line.files[name].stat().st_size
    except (OSError, ValueError):
        return batch  # the check of all files reports it
    item = network.tensors[name].elements // batch * stored_type(network, name, types).itemsize
    return 1 if size == item else batch


def _check_size(
    path: Path,
    line: InputLine,
    network: Network,
    stored_as: tuple[str, Mapping[str, str]],
    batch: int,
    items: int,
) -> None:
    name, types = stored_as
    file, tensor = line.files[name], network.tensors[name]
    try:
        require_ordinary(file)
    except HexsimError as error:
        raise _error(path, line.number, str(error)) from None
    try:
        if file.is_dir():
            raise _error(path, line.number, f"'{file}' is a folder; name the raw files in it")
        size = file.stat().st_size
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        message = f"cannot read {str(file)!r}: {getattr(error, 'strerror', error)}"
        raise _error(path, line.number, f"{message}; paths start from the current folder") from None
    numbers = tensor.elements // batch * items
    expected = numbers * stored_type(network, name, types, size).itemsize
    if size == expected:
        return
    shape = ", ".join(map(str, (items, *tensor.shape[1:]) if batch > 1 else tensor.shape))
    kind, form = raw_numbers.form(network, name, types, size // max(1, numbers))
    either = f" (or one item each, {expected // batch} bytes)" if items > 1 else ""
    raise _error(
        path,
        line.number,
        f"Input file '{file}' has inappropriate number of bytes ({size}) for {kind} input "
        f"'{name}' for batch {items} and size {{{shape}}}. Expected bytes {expected}{either}: "
        f"{form}, or give the model the shape of the file ({spelled('input_dims')})",
    )


def _error(path: Path, line: int, message: str) -> HexsimError:
    return HexsimError(f"input list '{path}', line {line}: {message}")


def first_files(path: Path) -> tuple[Path, ...]:
    """Return the first file of each line of the list at `path`, for any network.

    Raises HexsimError if the list cannot be read or names no file.
    """
    firsts = (text.split()[0] for _, text in _lines(path) if text[0] not in "#%")
    files = tuple(Path(word.partition(":=")[2] or word) for word in firsts)
    if not files:
        raise HexsimError(f"input list '{path}' names no input; write one raw file per line")
    return files
