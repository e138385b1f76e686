"""What a file of a tensor processor states: silicon, and what a release costs on it.

Left out: low clocks, energy, and how DDR is shared with others.
"""

from __future__ import annotations

from typing import Literal

from hexsim.platforms.datasheet import Datasheet, Table
from hexsim.platforms.quantity import (
    Bytes,
    BytesPerSecond,
    Clocks,
    Fraction,
    Hertz,
    MacsPerClock,
    Ratio,
)


class Htp(Table):
    """HMX, HVX and VTCM at one clock.

    Of the peak in multiply-adds, full tiles reach `hmx_share`. `vector_clk` is what HVX with all
    its contexts spends on a vector of 128 bytes, `shallow_vector_clk` on one of an image with few
    channels. In floats HVX takes `float_factor` times as long, `float_function_factor` for
    functions of one number.
    """

    clock_hz: Hertz
    int8_macs_per_clk: MacsPerClock
    fp16_macs_per_clk: MacsPerClock
    hmx_share: Fraction
    vector_clk: Clocks
    shallow_vector_clk: Clocks
    port_vectors_per_clk: Ratio
    float_factor: Ratio
    float_function_factor: Ratio
    vtcm_bytes: Bytes
    ddr_peak_bytes_per_s: BytesPerSecond
    dma_efficiency: Fraction


class Release(Table):
    """Running a compiled graph under the release of the rows: clocks per graph, per operation."""

    graph_clk: Clocks
    operator_clk: Clocks


class TensorProcessor(Datasheet):
    """That of one chip."""

    arch: Literal["v68", "v69", "v73", "v75", "v79"]
    htp: Htp
    release: Release
