"""What a file of areas states: square millimetres of what designs differ in, at 7 nm.

One process for all chips, so that two designs compare. Nothing here was published for a Hexagon.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import NonNegativeFloat

from hexsim.datasheets.datasheet import Datasheet, DatasheetTable
from hexsim.datasheets.quantity import Unit

SquareMillimetres = Annotated[NonNegativeFloat, Unit("mm2")]
PerByte = Annotated[NonNegativeFloat, Unit("mm2/B")]
PerMac = Annotated[NonNegativeFloat, Unit("mm2/MAC")]


class ScalarArea(DatasheetTable):
    """The core without threads and multipliers, then one of each."""

    core_mm2: SquareMillimetres
    thread_mm2: SquareMillimetres
    multiplier_mm2: SquareMillimetres


class VectorArea(DatasheetTable):
    """Parts of one vector context of 128 bytes; longer vectors take as much more."""

    context_mm2: SquareMillimetres
    multiply_pipe_mm2: SquareMillimetres
    shift_pipe_mm2: SquareMillimetres
    permute_pipe_mm2: SquareMillimetres
    port_mm2: SquareMillimetres


class MemoryArea(DatasheetTable):
    """Memory on chip, with what reads and writes it; L2 has tags."""

    l2_mm2_per_byte: PerByte
    local_mm2_per_byte: PerByte


class HtaArea(DatasheetTable):
    """The tensor engine without its memory."""

    base_mm2: SquareMillimetres
    mm2_per_mac: PerMac


class AreaSheet(Datasheet):
    """All areas of one process."""

    scalar: ScalarArea
    hvx: VectorArea
    memory: MemoryArea
    hta: HtaArea
