"""Inputs as a caller of the API gives them: arrays, a list, or a folder of pictures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, note, warn_caller
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.source import Feed, InputSource, judging_source, listed, seeded
from hexsim.inputs.stored import stored_inputs
from hexsim.records import dataclass, replace

Arrays = Mapping[str, npt.ArrayLike] | npt.ArrayLike
"""The inputs of an inference: an array, or arrays by the names of inputs, in ONNX axis order."""


@dataclass(frozen=True)
class Pictures:
    """The pictures in a folder; `steps`, fields of `PictureSteps`, make inputs of them.

    Steps that are not given are those that the file of the network stores.
    """

    folder: Path
    steps: Mapping[str, Any]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files, in the order of their names; HexsimError if there is none."""
        from hexsim.inputs.preprocessing import picture_files

        return tuple(picture_files(self.folder))

    def __len__(self) -> int:
        return len(self.files)

    def source(self, network: Network) -> InputSource:
        """Return the inputs of `network`; HexsimError if it takes no pictures."""
        from hexsim.inputs.pictures import pictures

        return pictures(self.folder, network, picture_steps(self.steps, network))


def picture_steps(steps: Mapping[str, Any], network: Network | None = None) -> PictureSteps:
    """Return how pictures become inputs: `steps`, and what they leave open as the file has it.

    `mean_file` among them is a mean image. A note says what the file has, a warning what is done
    otherwise. Raises HexsimError for steps that contradict each other.
    """
    if "mean_file" in steps:
        from hexsim.inputs.preprocessing import mean_image

        others = {name: step for name, step in steps.items() if name != "mean_file"}
        image = mean_image(Path(steps["mean_file"]))
        steps = {**others, "mean": (0.0,), "mean_image": image}
    name = network.inputs[0] if network is not None and len(network.inputs) == 1 else None
    stored = None if network is None or name is None else network.input_format(name).pictures
    how = PictureSteps.of(stored, steps)
    if stored is not None:
        note(f"how the file says pictures become inputs: {stored}")
    if stored not in (None, how):
        warn_caller(f"the options say otherwise, and are followed: {how}")
    return how


InputSets = Iterable[Arrays] | Pictures | str | Path
"""Inputs of many inferences: arrays, pictures, or the path of an input list or of pictures."""


def read_inputs(inputs: InputSets | None, network: Network) -> InputSource:
    """Return inputs in memory, of an input list, or of a folder of pictures; None is seeded ones.

    Raises HexsimError for what does not fit the inputs of `network`.
    """
    if inputs is None:
        return judging_source(network)
    if isinstance(inputs, str | Path):
        path = Path(inputs)
        return Pictures(path, {}).source(network) if path.is_dir() else listed(path, network)
    if isinstance(inputs, Pictures):
        return inputs.source(network)
    feeds = [stored_arrays(network, arrays) for arrays in separate(network, inputs)]
    if not feeds:
        raise HexsimError("the list of inputs is empty; give one array or more")
    text = f"{len(feeds)} input{'s' * (len(feeds) > 1)} in memory"
    files = tuple((f"input {index}",) for index in range(len(feeds)))
    return replace(seeded(feeds, network), description=text, files=files, seeded=False)


def separate(network: Network, inputs: Iterable[Arrays]) -> Iterable[Arrays]:
    """Return the inputs of each inference; an array of many items is cut into batches."""
    if isinstance(inputs, Mapping):
        return [inputs]
    shape = network.tensors[network.inputs[0]].source_shape
    if not isinstance(inputs, np.ndarray) or inputs.ndim != len(shape) or not shape:
        return inputs
    return [inputs[start : start + shape[0]] for start in range(0, len(inputs), shape[0])]


def stored_arrays(network: Network, arrays: Arrays) -> dict[str, FloatArray]:
    """Return the arrays of an inference in stored order; HexsimError if they do not fit."""
    named = arrays if isinstance(arrays, Mapping) else {network.inputs[0]: arrays}
    return stored_inputs(network, {name: np.asarray(array) for name, array in named.items()})


class Sets(Sequence[Feed]):
    """Sets of inputs in stored order, each read or converted when it is used.

    `pictures` are the steps that make them of pictures.
    """

    def __init__(
        self, feed: Callable[[int], Feed], count: int, pictures: PictureSteps | None = None
    ) -> None:
        self._feed, self._count, self.pictures = feed, count, pictures

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Feed: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Feed]: ...
    def __getitem__(self, index: int | slice) -> Feed | Sequence[Feed]:
        numbers = range(self._count)[index]
        return self._feed(numbers) if isinstance(numbers, int) else list(map(self._feed, numbers))


def sets_of(network: Network, inputs: InputSets) -> Iterable[Feed]:
    """Return the sets of `inputs`: an iterator of an iterator, else a sequence."""
    if isinstance(inputs, Pictures | str | Path):
        source = read_inputs(inputs, network)
        return Sets(source.read.feed, source.sets, source.pictures)
    each = separate(network, inputs)
    if isinstance(each, Sequence | np.ndarray):
        return Sets(lambda index: stored_arrays(network, each[index]), len(each))
    return (stored_arrays(network, arrays) for arrays in each)
