"""InputFormat: what an application hands to an input of the network.

The type says how a fixed-point runtime takes the floats, the encoding what the channels of a
picture mean. Words are those of the SNPE converters (`--input_type`, `--input_encoding`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

InputType = Literal["default", "image", "opaque"]
"""default: floats, quantised by the encoding that calibration found. image: whole numbers 0 to
255, which are their own codes. opaque: floats that are passed on unquantised."""

InputEncoding = Literal["bgr", "rgb", "rgba", "argb32", "nv21", "time_series", "other"]
"""bgr, time_series and other are taken as they come; the rest is converted to bgr by a layer."""

INPUT_TYPES: tuple[InputType, ...] = get_args(InputType)
INPUT_ENCODINGS: tuple[InputEncoding, ...] = get_args(InputEncoding)

IMAGE_HIGH = 255
"""Largest value of an input of type image (SNPE guide, input_type; documented)."""


@dataclass(frozen=True)
class InputFormat:
    """How one input arrives; the default is what an ONNX file says: floats, as they are."""

    type: InputType = "default"
    encoding: InputEncoding = "bgr"

    def fault(self, values: npt.NDArray[np.generic]) -> str | None:
        """Say which of `values` (any shape) the type does not allow, None if all are fine."""
        if self.type != "image":
            return None
        reals = values.astype(np.float64)
        wrong = (reals < 0) | (reals > IMAGE_HIGH) | (reals != np.rint(reals))
        if not wrong.any():
            return None
        return (
            f"{reals[wrong].flat[0]:g}, but an input of type image holds whole numbers from 0 to "
            f"{IMAGE_HIGH}; do not normalise the picture, or convert with --input-type default"
        )


PLAIN = InputFormat()
"""Of an input that nobody said anything about."""
