"""Writes AIMET's encodings of the drawn tensors, one a line, to encodings.csv.

Run it with a Python that has aimet-onnx (`pip install aimet-onnx`, 2.42 when this was written):

    python tests/oracle/aimet/record.py
"""

import csv
from pathlib import Path

import numpy as np
from aimet_onnx.common import libpymo
from tensors import BITS, tensors

PLAIN = libpymo.QuantizationMode.QUANTIZATION_TF
SEARCHED = libpymo.QuantizationMode.QUANTIZATION_TF_ENHANCED


def encoding(values: np.ndarray, mode: str, bits: int) -> tuple[float, float, float, int]:
    """Return min, max, step and offset that AIMET gives to `values`."""
    scheme = SEARCHED if mode.startswith("enhanced") else PLAIN
    quantizer = libpymo.BlockTensorQuantizer([], bits, scheme)
    quantizer.setStrictSymmetric(mode.startswith("strict"))
    quantizer.setUnsignedSymmetric(False)
    quantizer.updateStats(values)
    (computed,) = quantizer.computeEncodings(mode.endswith("symmetric"))
    return computed.min, computed.max, computed.delta, int(computed.offset)


def main() -> None:
    with (Path(__file__).parent / "encodings.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("tensor", "low", "high", "mode", "bits", "min", "max", "delta", "offset"))
        for name, values in tensors().items():
            ends = [float(f"{float(end):.9g}") for end in (values.min(), values.max())]
            for mode, widths in BITS.items():
                for bits in widths:
                    least, most, delta, offset = encoding(values, mode, bits)
                    reals = (f"{real:.9g}" for real in (least, most, delta))
                    rows.writerow((name, *ends, mode, bits, *reals, offset))


if __name__ == "__main__":
    main()
