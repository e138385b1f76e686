"""The rates of the tensor processor of a chip under a software stack."""

from __future__ import annotations

from collections.abc import Mapping

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.htp.compiler import HtpOperation
from hexsim.htp.layout import VECTOR_BYTES
from hexsim.records import dataclass

_CONTEXTS, _PACKETS_PER_CLK = 4, 1.33
"""Contexts of HVX, and packets that all threads issue, of the chips to which clocks per vector are
fitted (V68 to V75; inferred and assumed, as their datasheets say)."""
_REGROUPED = "regrouped_vectors"
"""Vectors of which those that HMX multiplies take as long in floats as in codes: they are moved."""
_A16_PASSES = 2.0
"""Passes over HMX for 16-bit activations: their high and their low bytes (measured: 1.9 to 2.2
times as long as 8 bits on SM8475 and SM8650; naonao-cola/onnx-simplifier, zzh-www/qcom_htp)."""
_FULL_BITS = 8
"""Bits of the weights of a whole pass; HMX multiplies by half as many in half of the time (inferred
from blocks of a prompt on Snapdragon X Elite, llm_latency.csv)."""


@dataclass(frozen=True)
class HtpMachine:
    """The constants of chip and stack, as rates.

    Peaks are those of HMX with all of its tiles full, for codes of 8 bits and for float16.
    `vector_s` has the time of a vector of codes on HVX by the names that `CallCost` has for its
    kinds, `float_vector_s` that of a vector of half floats, `float_tap_share` the time of its
    products over their order, where codes have 1. Clocks per vector are those of
    `_CONTEXTS` contexts of HVX; more of them take less. Attention and weights that become floats
    are many instructions on each vector, which issue limits, not contexts. The pace of a chip,
    which is that of its convolutional networks, holds neither for these nor for DDR, whose rate is
    published (inferred).
    """

    clock_hz: float
    crossing_s: float
    vtcm_bytes: int
    int8_macs_per_s: float
    fp16_macs_per_s: float
    hmx_share: float
    vector_s: Mapping[str, float]
    float_vector_s: Mapping[str, float]
    float_tap_share: float
    port_bytes_per_s: float
    ddr_bytes_per_s: float
    hvx_ddr_bytes_per_s: float
    operator_s: float
    graph_s: float

    @classmethod
    def of(cls, chip: Chip, stack: Stack) -> HtpMachine:
        """Return the rates of a chip and a stack; HexsimError if one of them states none."""
        htp, memory, release = chip.htp, chip.memory, stack.htp
        clock_hz = htp.clock_hz * htp.pace
        contexts = htp.hvx_contexts / _CONTEXTS
        clocks = {
            "vectors": htp.vector_clk,
            "function_vectors": htp.vector_clk,
            "broadcast_vectors": htp.broadcast_vector_clk,
            "row_vectors": htp.row_vector_clk,
            _REGROUPED: htp.regrouped_vector_clk,
        }
        issued_s = htp.vector_clk / htp.clock_hz * _PACKETS_PER_CLK / htp.packets_per_clk
        vector_s = {kind: clk / (clock_hz * contexts) for kind, clk in clocks.items()}
        for kind in ("softmax_vectors", "ordered_vectors", "unpacked_vectors"):
            vector_s[kind] = getattr(release, kind) * issued_s
        floats = {kind: seconds * htp.float_factor for kind, seconds in vector_s.items()}
        floats["function_vectors"] = vector_s["vectors"] * htp.float_function_factor
        floats["softmax_vectors"] = release.float_softmax_vectors * issued_s * htp.float_factor
        return cls(
            clock_hz=clock_hz,
            crossing_s=release.crossing_s,
            vtcm_bytes=htp.vtcm_bytes,
            int8_macs_per_s=htp.int8_macs_per_clk * clock_hz,
            fp16_macs_per_s=htp.fp16_macs_per_clk * clock_hz,
            hmx_share=htp.hmx_share,
            vector_s=vector_s,
            float_vector_s=floats,
            float_tap_share=htp.float_tap_instructions / htp.float_factor,
            port_bytes_per_s=htp.port_vectors_per_clk * VECTOR_BYTES * clock_hz,
            ddr_bytes_per_s=memory.ddr_peak_bytes_per_s * memory.efficiency,
            hvx_ddr_bytes_per_s=htp.hvx_ddr_bytes_per_s,
            operator_s=release.operator_clk / clock_hz,
            graph_s=release.graph_clk / clock_hz,
        )

    def parts_s(self, operation: HtpOperation) -> tuple[float, float, float]:
        """Return the seconds of an operation on HMX, on HVX, and at the ports of VTCM."""
        call, cost = operation.call, operation.cost
        if call.computes_float:
            rate, passes, times = self.fp16_macs_per_s, 1.0, self.float_vector_s
        else:
            rate, passes = self.int8_macs_per_s, _A16_PASSES if call.activation_bits == 16 else 1.0
            if call.parameters:
                passes *= min(call.weight_bits, _FULL_BITS) / _FULL_BITS
            times = self.vector_s
        hmx_s = cost.hmx_macs * passes / (rate * self.hmx_share)
        hvx_s = sum(getattr(cost, kind) * seconds for kind, seconds in times.items())
        hvx_s *= max(1.0, cost.tap_share * (self.float_tap_share if call.computes_float else 1.0))
        if cost.hmx_macs:
            only_moved = self.vector_s[_REGROUPED] - times[_REGROUPED]
            hvx_s += cost.regrouped_vectors * only_moved
        port_s = cost.port_bytes / self.port_bytes_per_s
        return hmx_s * operation.slower, hvx_s * operation.slower, port_s * operation.slower

    def overhead_s(self, operation: HtpOperation) -> float:
        """Return the seconds in which an operation is started."""
        return self.operator_s * operation.cost.operators * operation.slower
