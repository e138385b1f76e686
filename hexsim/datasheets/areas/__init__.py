"""The silicon area of a DSP and its tensor engine: hexsim's own estimate, in mm2 at 7 nm.

All chips use the same process, so that designs can be compared; no such area of a Hexagon is
published. The area is the number of each part times its area. The parts are those that sweeps vary:
hardware threads, scalar multipliers, vector contexts with their pipes and ports, L2, VTCM, and the
array and memory of the tensor engine; of the tensor processor HMX and VTCM. An array has one
multiplier for each MAC per clock.

Left out: CPU, GPU, DDR interface, the low-power island; threads and vectors of the tensor
processor, whose numbers no chip states; wires, whose area grows faster than the parts; and larger
transistors for faster clocks.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from hexsim.datasheets.chips import Chip, Dsp, Hta, Htp
from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf
from hexsim.datasheets.quantity import Estimate, NotNegative, Unit

SquareMillimetres = Annotated[NotNegative, Unit("mm2")]
PerByte = Annotated[NotNegative, Unit("mm2/B")]
PerMac = Annotated[NotNegative, Unit("mm2/MAC")]


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


_SHELF = Shelf(AreaDatasheet, "process", Path(__file__).parent)
_PROCESS = "7nm"
_STATED_FOR_BYTES = 128
"""Vector length at which areas of the vector unit are stated."""


def area_of(chip: Chip) -> Estimate:
    """Return the square millimetres of DSP and tensor engines of a chip, 0 if it has none."""
    value, low, high = (sum(parts(chip, datasheet).values()) for datasheet in _datasheets())
    return Estimate(value, low, high)


@cache
def _datasheets() -> tuple[AreaDatasheet, AreaDatasheet, AreaDatasheet]:
    datasheet = _SHELF.load(_PROCESS)
    return datasheet, datasheet.at_end("low"), datasheet.at_end("high")


def parts(chip: Chip, datasheet: AreaDatasheet) -> Mapping[str, float]:
    """Return square millimetres by part."""
    of_dsp = _dsp(chip.dsp_table, datasheet) if chip.dsp_table else {}
    of_hta = _hta(chip.hta_table, datasheet) if chip.hta_table else {}
    return {**of_dsp, **of_hta, **(_htp(chip.htp_table, datasheet) if chip.htp_table else {})}


def _dsp(dsp: Dsp, datasheet: AreaDatasheet) -> dict[str, float]:
    scalar, vector, hvx = datasheet.scalar, datasheet.hvx, dsp.hvx
    context = (
        vector.context_mm2
        + hvx.multiply_pipes * vector.multiply_pipe_mm2
        + hvx.shift_pipes * vector.shift_pipe_mm2
        + hvx.permute_pipes * vector.permute_pipe_mm2
        + (hvx.load_ports + hvx.store_ports) * vector.port_mm2
    )
    return {
        "scalar": scalar.core_mm2
        + dsp.hardware_threads * scalar.thread_mm2
        + dsp.scalar_multipliers * scalar.multiplier_mm2,
        "hvx": hvx.contexts * context * hvx.vector_bytes / _STATED_FOR_BYTES,
        "l2": dsp.l2_bytes * datasheet.memory.l2_mm2_per_byte,
        "vtcm": dsp.vtcm_bytes * datasheet.memory.local_mm2_per_byte,
    }


def _hta(hta: Hta, datasheet: AreaDatasheet) -> dict[str, float]:
    return {
        "hta array": datasheet.hta.base_mm2 + hta.macs_per_clk * datasheet.hta.mm2_per_mac,
        "hta memory": hta.local_bytes * datasheet.memory.local_mm2_per_byte,
    }


def _htp(htp: Htp, datasheet: AreaDatasheet) -> dict[str, float]:
    return {
        "hmx": datasheet.hta.base_mm2 + htp.int8_macs_per_clk * datasheet.hta.mm2_per_mac,
        "htp vtcm": htp.vtcm_bytes * datasheet.memory.local_mm2_per_byte,
    }
