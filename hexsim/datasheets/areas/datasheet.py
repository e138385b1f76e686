"""The contents of a file of areas: square millimetres of the parts of a design, at 7 nm.

All chips use the same process, so that designs can be compared. No such area of a Hexagon is
published.
"""

from typing import Annotated

from pydantic import NonNegativeFloat

from hexsim.datasheets.datasheet import Datasheet, DatasheetTable
from hexsim.datasheets.quantity import Unit

SquareMillimetres = Annotated[NonNegativeFloat, Unit("mm2")]
PerByte = Annotated[NonNegativeFloat, Unit("mm2/B")]
PerMac = Annotated[NonNegativeFloat, Unit("mm2/MAC")]


class ScalarArea(DatasheetTable):
    """The core without threads and multipliers, and each thread and multiplier."""

    core_mm2: SquareMillimetres
    thread_mm2: SquareMillimetres
    multiplier_mm2: SquareMillimetres


class VectorArea(DatasheetTable):
    """Parts of one vector context of 128 bytes; areas are proportional to the vector length."""

    context_mm2: SquareMillimetres
    multiply_pipe_mm2: SquareMillimetres
    shift_pipe_mm2: SquareMillimetres
    permute_pipe_mm2: SquareMillimetres
    port_mm2: SquareMillimetres


class MemoryArea(DatasheetTable):
    """Memory on chip with its read and write circuits; L2 has tags."""

    l2_mm2_per_byte: PerByte
    local_mm2_per_byte: PerByte


class HtaArea(DatasheetTable):
    """The tensor engine without its memory."""

    base_mm2: SquareMillimetres
    mm2_per_mac: PerMac


class AreaDatasheet(Datasheet):
    """All areas of one process."""

    scalar: ScalarArea
    hvx: VectorArea
    memory: MemoryArea
    hta: HtaArea
