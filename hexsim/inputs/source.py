"""InputSource: sets of inputs that can be read again and again, and how many items they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hexsim.graph.ir import FloatArray, Network
from hexsim.quantization.input_list import batch_size, read_input_list

Feed = Mapping[str, FloatArray]


@dataclass(frozen=True)
class InputSource:
    """`feeds` yields the sets from the first on, arrays in stored order, `batch` items in each.

    `items` are those of all sets without the padding of the last one; `names` are their file
    names, where each has its own. `description` says in words where they come from; `seeded` ones
    are made up.
    """

    feeds: Callable[[], Iterable[Feed]]
    items: int
    batch: int
    description: str
    names: tuple[str, ...] | None = None
    seeded: bool = False

    @property
    def sets(self) -> int:
        """Number of sets, one inference each."""
        return -(-self.items // self.batch)


def listed(path: Path, network: Network) -> InputSource:
    """The raw files that an input list names; HexsimError as `read_input_list`."""
    found = read_input_list(path, network)
    batch = batch_size(network)
    text = f"inputs of '{path}'{padding(found.items, batch)}"
    return InputSource(lambda: found.arrays(network), found.items, batch, text)


def seeded(feeds: Sequence[Feed], network: Network) -> InputSource:
    """Made-up sets that are in memory, all of them full."""
    batch = batch_size(network)
    text = "seeded inputs, on which classes mean nothing"
    return InputSource(lambda: feeds, len(feeds) * batch, batch, text, seeded=True)


def padding(items: int, batch: int) -> str:
    """What to say if the last batch is not full."""
    rest = items % batch
    return f" (applying padding: the last batch holds {rest} of {batch} items)" if rest else ""
