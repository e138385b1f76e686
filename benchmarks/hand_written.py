"""Comparison of the scheduled streams with the hand-written kernels of Hexagon NN.

The packets of Hexagon NN were counted by assembling its open sources (commit df7ad3c) for V66 and
reading the hardware loops; `source` names the file. "inferred" marks counts that were derived from
file sizes, or estimated because the kernel is written in C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams import convolution, listed, matrices, normalization
from hexsim.hvx.streams._kernel import Kernel

V60, V65, V66 = HvxMachine(60), HvxMachine(65), HvxMachine(66)


@dataclass(frozen=True)
class KernelComparison:
    """One kernel, and the packets of Hexagon NN for the same tile (`theirs`)."""

    kernel: Kernel
    shape: str
    theirs: int
    source: str

    @property
    def deviation(self) -> float:
        """Relative difference of the packets from those of Hexagon NN."""
        return self.kernel.packets / self.theirs - 1


def comparison() -> Iterator[KernelComparison]:
    """Yield every counted kernel, convolutions for small and large tiles."""
    yield from _convolutions()
    yield from _depthwise()
    pool = "maxpool_d32.S"
    yield KernelComparison(listed("max_3x3_s1", V66), "2 x 128 outputs", 6, pool)
    yield KernelComparison(listed("max_3x3_s2", V66), "2 x 128 outputs", 10, "maxpool_3x3s2_d32.S")
    yield KernelComparison(listed("max_2x2_s2", V66), "128 outputs", 4, pool)
    yield KernelComparison(listed("max_any", V66, 49), "7x7 window", 99, "maxpool_nonaligned_hvx.S")
    yield KernelComparison(listed("average_3x3_s1", V66), "2 x 128 outputs", 11, "avgpool_d32.S")
    yield KernelComparison(listed("average_any", V66, 49), "7x7 window", 70, "avgpool_d32.S")
    yield KernelComparison(listed("add", V66), "128 codes", 6, "quant_add_spec_h.S")
    yield KernelComparison(
        listed("multiply", V66), "128 codes", 8, "op_mul_d32.c, counted on an emulator"
    )
    yield KernelComparison(listed("rescale", V66), "128 codes", 3, "scalemem_d32.S")
    yield KernelComparison(listed("copy", V66), "128 codes", 1, "scalemem_d32.S")
    yield KernelComparison(listed("clamp", V66), "128 codes", 1, "relu_kernel_h.S")
    yield KernelComparison(listed("requantize", V66), "128 codes", 8, "quantize_h.S")
    yield KernelComparison(listed("prelu", V66), "128 codes", 8, "prelu_d32.S")
    for radius in (1, 2):
        lrn = normalization.local_response_norm_vector(V66, radius)
        yield KernelComparison(lrn, f"window {2 * radius + 1}", 77 + 8 * radius, "lrn_d32_hvx.S")
    yield KernelComparison(
        listed("bilinear_by_two", V66), "4 x 128 outputs", 4, "resizebilinear_d32_h.S"
    )
    yield KernelComparison(listed("to_d32", V66), "512 bytes", 12, "to_d32_h.S")
    yield KernelComparison(listed("from_d32", V66), "512 bytes", 10, "from_d32_h.S")
    yield KernelComparison(listed("to_depth_4", V66), "128 bytes", 3, "copy3to4_h.S")
    yield KernelComparison(listed("pixel_pairs", V65), "128 bytes", 3, "repstream2_h.S")
    yield KernelComparison(listed("activation_sums", V60), "128 bytes", 1, "gsum_h.S")
    yield KernelComparison(listed("value_range", V66), "32 floats", 1, "autoquantize_h.S")
    yield KernelComparison(listed("codes", V66), "128 floats", 16, "autoquantize_h.S")


def _convolutions() -> Iterator[KernelComparison]:
    for width, rows in ((1, 2), (1, 8), (3, 3), (3, 12), (5, 5), (3, 48)):
        shape, steps = f"{width} wide, {rows} rows of taps", width * rows
        v60 = convolution.v60(V60, width, rows)
        yield KernelComparison(v60, shape, 16 * steps + rows + 15, "gvconv2dbbb_d32_v60_h.S")
        pair = convolution.v65(V65, width, rows)
        yield KernelComparison(
            pair, shape, 36 * steps + 2 * rows + 45, "gvconv2dbbb_circ_d64_v65_h.S"
        )
        six = convolution.v65(V65, width, rows, pixels=6)
        source = "gvconv2dbbb_circ6_d64_v65_h.S, tail inferred"
        yield KernelComparison(six, f"{shape}, 6 pixels", 28 * steps + 2 * rows + 35, source)
        single = convolution.v65(V65, width, rows, slices=1)
        theirs = 24 * steps + 2 * rows + 34
        yield KernelComparison(single, shape, theirs, "gvconv2dbbb_circ_d32_v65_h.S, tail inferred")
        v66 = convolution.v66(V66, width, rows)
        yield KernelComparison(v66, shape, 8 * steps + 14, "gvconv2dbbb_d32_s1f_h_v66.S")
    for size, stride, theirs in ((3, 2, 41), (7, 2, 125), (11, 4, 273), (5, 1, 75)):
        first = convolution.convolution(V66, size, size, stride)
        yield KernelComparison(
            first, f"{size}x{size}", theirs, "inconv2dbbb_d32_v60_h.S, tail inferred"
        )
    for inputs in (1024, 4096):
        single = matrices.outputs(V66, inputs, 1)
        yield KernelComparison(
            single, f"{inputs} inputs", inputs // 4 + 28, "fullconnlayerbatch1_h.S"
        )
        two = matrices.outputs(V66, inputs, 2)
        yield KernelComparison(
            two, f"{inputs} inputs", 5 * inputs // 16 + 17, "fullconnlayerbatch_h.S"
        )


def _depthwise() -> Iterator[KernelComparison]:
    for stride in (1, 2):
        kernel = convolution.three_by_three(V66, stride)
        yield KernelComparison(kernel, "128 outputs", 26, f"dwconv2dbbb_s{stride}_3x3_h.S")
        theirs = (5 + stride) * 5 + 12
        rows = convolution.by_rows(V66, 5, 3, stride)
        yield KernelComparison(rows, "128 outputs", theirs, f"dwconv2dbbb_s{stride}_3xN_h.S")
        for width in (5, 7):
            rows = convolution.by_rows(V66, width, width, stride)
            source = f"dwconv2dbbb_s{stride}_{width}xN_h.S"
            yield KernelComparison(rows, "128 outputs", 12 * width + 11, source)
