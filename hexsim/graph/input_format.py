"""InputFormat: the form in which an application gives an input to the network.

The type determines how a fixed-point runtime quantises the floats, the encoding the meaning of a
picture's channels. The terms are those of the SNPE converters (`--input_type`,
`--input_encoding`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

InputType = Literal["default", "image", "opaque"]
"""default: floats, quantised by the encoding that calibration found. image: whole numbers 0 to
255, which are their own codes. opaque: floats that stay unquantised."""

InputEncoding = Literal["bgr", "rgb", "rgba", "argb32", "nv21", "time_series", "other"]
"""bgr, time_series and other stay unchanged; a layer converts the others to bgr."""

INPUT_TYPES: tuple[InputType, ...] = get_args(InputType)
INPUT_ENCODINGS: tuple[InputEncoding, ...] = get_args(InputEncoding)

IMAGE_HIGH = 255
"""Largest value of an input of type image (SNPE guide, input_type; documented)."""


@dataclass(frozen=True)
class InputFormat:
    """The form of one input; the default is that of an ONNX file, plain floats."""

    type: InputType = "default"
    encoding: InputEncoding = "bgr"

    def fault(self, values: npt.NDArray[np.generic]) -> str | None:
        """Return which of `values` (any shape) the type does not allow, None if it allows all."""
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
"""The default format of inputs."""
