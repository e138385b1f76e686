"""Top-1 and top-5: what a classifier's first output says, against labels and against float."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network


@dataclass
class Hits:
    """Counts over the inputs seen; those against labels stay 0 without labels."""

    inputs: int = 0
    same_top1: int = 0
    float_top1: int = 0
    float_top5: int = 0
    runtime_top1: int = 0
    runtime_top5: int = 0

    def add(self, floats: FloatArray, others: FloatArray, label: int | None) -> None:
        """Take in the scores of one input, in float and on the runtime."""
        self.inputs += 1
        self.same_top1 += int(np.argmax(floats)) == int(np.argmax(others))
        if label is not None:
            place_float, place_runtime = place(floats, label), place(others, label)
            self.float_top1 += place_float < 1
            self.float_top5 += place_float < 5
            self.runtime_top1 += place_runtime < 1
            self.runtime_top5 += place_runtime < 5


def place(scores: FloatArray, label: int) -> int:
    """How many classes stand before `label`; of equal scores the lower index does."""
    flat = scores.ravel()
    before = np.count_nonzero(flat > flat[label]) + np.count_nonzero(flat[:label] == flat[label])
    return int(before)


def read_labels(path: Path, count: int, network: Network) -> tuple[int, ...]:
    """Read one class index per line for `count` inputs; blank lines are skipped.

    Raises HexsimError naming file and line for anything else, another number of labels, and a
    class that the first output of `network` does not have.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise HexsimError(f"label file '{path}' is no text; give one integer per line") from None
    except OSError as error:
        raise HexsimError(f"cannot read label file '{path}': {error.strerror}") from None
    output = network.tensors[network.outputs[0]]
    batches = {network.shape(name)[0] for name in network.inputs if len(network.shape(name)) > 1}
    if batches - {1} or output.dtype != "float32":
        raise HexsimError(
            f"labels need class scores of one input at a time, and output '{output.name}' of "
            f"network '{network.name}' has others; resize it to a batch of 1"
        )
    labels = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            label = int(text)
        except ValueError:
            label = -1
        if not 0 <= label < output.elements:
            raise HexsimError(
                f"label file '{path}', line {number}: '{text.strip()}' is no class; output "
                f"'{output.name}' has the classes 0 to {output.elements - 1}"
            )
        labels.append(label)
    if len(labels) != count:
        raise HexsimError(
            f"label file '{path}' has {len(labels)} labels for {count} inputs; "
            "give one label per line of the input list"
        )
    return tuple(labels)
