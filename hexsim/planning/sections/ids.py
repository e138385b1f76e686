"""Ids of layers as `hexsim info` prints them, and lists of ids of HTA sections.

As in snpe-dlc-info, the network's inputs come first, so that the first layer of a network with one
input has id 1. A list is `0-11,15-20`, both ends included, optionally after the name of a chip or
its part number: `sm8150:0-20,40-60`; a name without a list selects automatic sections.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import Network

_RANGE = r"\d{1,9}+(?:-\d{1,9}+)?+"
_LIST = re.compile(rf"(?:([A-Za-z]\w*+):)?+({_RANGE}(?:,{_RANGE})*+)?")


@dataclass(frozen=True)
class Listed:
    """One list: ids of first and last layer of each section, None for automatic sections.

    `asic` is the chip or part number in it, "" if there is none.
    """

    asic: str
    ranges: tuple[tuple[int, int], ...] | None


def parse(text: str) -> Listed:
    """Read one list; HexsimError if the text is not a list."""
    match = _LIST.fullmatch(re.sub(r"\s", "", text))
    if match is None or not any(match.groups()):
        raise HexsimError(
            f"{spelled('hta_partitions')} '{text}' is not a list of layer ids; write '0-11,15-20', "
            "'sm8150:0-20,40-60', or 'sm8150:' for automatic sections"
        )
    asic, ids = match.groups()
    if ids is None:
        return Listed(asic.lower(), None)
    pairs = [part.partition("-") for part in ids.split(",")]
    ranges = tuple((int(first), int(last or first)) for first, _, last in pairs)
    for first, last in ranges:
        if first > last:
            raise HexsimError(
                f"{spelled('hta_partitions')} '{text}' has the section {first}-{last}, which ends "
                f"before it starts; write {last}-{first}"
            )
    return Listed((asic or "").lower(), ranges)


def id_of(network: Network, index: int) -> int:
    """Return the id of the layer at an index."""
    return len(network.inputs) + index


def listed(network: Network, section: range) -> str:
    """Return the section as a user writes it."""
    first, last = id_of(network, section[0]), id_of(network, section[-1])
    return f"{first}-{last}" if first != last else f"{first}"


def all_listed(network: Network, sections: Sequence[range]) -> str:
    """Return sections as `parse` reads them, "" if there are none."""
    return ",".join(listed(network, section) for section in sections)


def named(network: Network, index: int) -> str:
    """Return a layer's name and id for a message."""
    return f"layer '{network.layers[index].name}' (id {id_of(network, index)})"
