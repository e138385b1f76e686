"""The command list of one HTA subnet, as the offline compiler writes it into a .dlc file.

A command fetches operands into local memory, uses the array or the stage after it, and
writes results back. A file stores the list as JSON with a format number.
"""

from __future__ import annotations

import json

from hexsim.errors import HexsimError, spelled
from hexsim.records import asdict, dataclass
from hexsim.texts.text import decoded
from hexsim.texts.trees import parse_json

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Command:
    """One tile of a layer: DMA in, array and stage, DMA out.

    `clocks` are those of the slower of array and stage. `after_layer` is the index of the layer
    whose results must be in DDR before the command reads them; -1 for none.
    """

    read_bytes: int
    clocks: int
    write_bytes: int
    after_layer: int = -1


@dataclass(frozen=True)
class LayerCommands:
    """The commands of one layer; `array_clocks` is the total time of the MAC array."""

    layer: str
    commands: tuple[Command, ...]
    array_clocks: int

    @property
    def read_bytes(self) -> int:
        """Bytes from DDR."""
        return sum(command.read_bytes for command in self.commands)

    @property
    def write_bytes(self) -> int:
        """Bytes to DDR."""
        return sum(command.write_bytes for command in self.commands)

    @property
    def clocks(self) -> int:
        """Clocks of array and stage."""
        return sum(command.clocks for command in self.commands)


@dataclass(frozen=True)
class CommandList:
    """All layers of a subnet in order, compiled for one chip."""

    chip: str
    layers: tuple[LayerCommands, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The layers' names."""
        return tuple(part.layer for part in self.layers)

    def to_bytes(self) -> bytes:
        """Return the record of a .dlc file."""
        layers = [
            {
                "layer": part.layer,
                "array_clocks": part.array_clocks,
                "commands": [list(asdict(command).values()) for command in part.commands],
            }
            for part in self.layers
        ]
        record = {"format": FORMAT, "chip": self.chip, "layers": layers}
        return json.dumps(record, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, record: bytes) -> CommandList:
        """Read a record; HexsimError if it is invalid or has another format."""
        try:
            tree = parse_json(decoded(record, "it"), "it")
            if tree["format"] != FORMAT:
                raise HexsimError(
                    f"the HTA section has format {tree['format']}, this hexsim reads {FORMAT}; "
                    f"quantise the network again with {spelled('enable_hta')}"
                )
            layers = tuple(
                LayerCommands(
                    part["layer"],
                    tuple(Command(*map(int, command)) for command in part["commands"]),
                    int(part["array_clocks"]),
                )
                for part in tree["layers"]
            )
            return cls(str(tree["chip"]), layers)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise HexsimError(
                f"the HTA section cannot be read; quantise the network again with "
                f"{spelled('enable_hta')}"
            ) from error
