"""The HTA sections of a model that a user asks about, and where they come from."""

from __future__ import annotations

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.planning.sections import automatic, given, parse
from hexsim.platform import Platform
from hexsim.platforms.chips.chip import Chip
from hexsim.quantization.quantized import QuantizedNetwork, float_network


def chosen_sections(
    model: Network | QuantizedNetwork, platform: Platform, listed: str | None
) -> tuple[tuple[range, ...], str]:
    """Return the sections and, in words, their source: listed by the user, of the file, automatic.

    Raises HexsimError if the list breaks a rule or is for another chip.
    """
    chip, release = platform.chip, platform.stack.partitioning
    if listed is not None:
        asked = parse(listed)
        if asked.asic not in ("", chip.name, chip.asic):
            raise HexsimError(
                f"--hta-partitions lists sections for {asked.asic}, and the chip is {chip.name}"
            )
        if asked.ranges is not None:
            return given(model, asked.ranges, release), "as listed"
    found = compiled_sections(model, chip)
    if found and listed is None:
        return found, "of the file"
    return automatic(model, release), "automatic, as --enable-hta compiles them"


def compiled_sections(model: Network | QuantizedNetwork, chip: Chip) -> tuple[range, ...]:
    """The sections that `model` holds for a chip."""
    index = {layer.name: at for at, layer in enumerate(float_network(model).layers)}
    compiled = model.hta if isinstance(model, QuantizedNetwork) else ()
    return tuple(
        range(index[section.layers[0]], index[section.layers[-1]] + 1)
        for section in compiled
        if section.chip == chip.name
    )
