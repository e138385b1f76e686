"""The inputs and outputs of a network as applications give and take them: their form and codes.

InputFormat: the form in which an application gives an input to the network.

The type determines how a fixed-point runtime quantises the floats, the encoding the meaning of a
picture's channels. The terms are those of the SNPE converters.

CodedEnd: an input or output that has quantised values (codes) in its ONNX file.

A quantised file may have integer inputs and outputs; the network has their real values. Inputs that
are given in the file's integer type are taken as codes, and such outputs are returned as codes.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, spelled
from hexsim.graph.domains import UNSTORED, Positive
from hexsim.records import dataclass, field, fields

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
class MeanImage:
    """A mean for each pixel: channels x height x width numbers, channels in the input's order.

    `data` has them in C order and little endian. A .dlc file has `data` in an entry of its own.
    """

    shape: tuple[Positive, Positive, Positive]
    dtype: Literal["float32", "float64"]
    data: bytes = field(default=b"", repr=False, metadata=UNSTORED)

    @classmethod
    def of(cls, image: npt.NDArray[np.generic]) -> Self:
        """Return the image of numbers of three axes, without a loss: in floats where these do."""
        doubles = image.astype("<f8")
        with np.errstate(over="ignore"):
            floats = doubles.astype("<f4")
        fit = np.array_equal(floats, doubles)
        channels, height, width = doubles.shape
        data = (floats if fit else doubles).tobytes()
        return cls((channels, height, width), "float32" if fit else "float64", data)

    def values(self) -> npt.NDArray[np.float64]:
        """Return the numbers, channels x height x width."""
        array = np.frombuffer(self.data, np.dtype(self.dtype).newbyteorder("<"))
        return array.reshape(self.shape).astype(np.float64)

    def __str__(self) -> str:
        digest = hashlib.sha256(self.data).hexdigest()[:8]
        return f"{'x'.join(map(str, self.shape))} (SHA-256 {digest}...)"

    def fault(self) -> str | None:
        """Return why this is no mean image, None if it is one."""
        if len(self.data) != math.prod(self.shape) * np.dtype(self.dtype).itemsize:
            return f"a mean image of {len(self.data)} bytes, which its shape does not have"
        return None if np.isfinite(self.values()).all() else "a mean image with NaN or infinity"


@dataclass(frozen=True)
class PictureSteps:
    """How a picture becomes an input: cut or stretched, resized, its channels in order, scaled.

    A value is (byte - `mean`) / `std`; each has one number, or one per channel. The upper left part
    of a `mean_image` replaces `mean`. `resize` is the shorter side in pixels before the middle is
    cut out; None: as few as the input needs.
    """

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    channel_order: Literal["rgb", "bgr"] = "rgb"
    fit: Literal["crop", "stretch"] = "crop"
    resize: int | None = None
    mean_image: MeanImage | None = None

    def __str__(self) -> str:
        steps = [(step.name, getattr(self, step.name)) for step in fields(self)]
        if self.mean_image is not None:
            steps = [("mean image", self.mean_image), *steps[1:-1]]
        return ", ".join(f"{name} {_text(value)}" for name, value in steps if value is not None)

    @classmethod
    def of(cls, stored: "PictureSteps | None", steps: Mapping[str, Any]) -> "PictureSteps":
        """Return `steps`, fields of this class, and for the others those that a file has stored.

        Raises HexsimError for steps that contradict each other.
        """
        kept = {} if stored is None else dict(vars(stored))
        kept |= {"mean_image": None} if "mean" in steps else {}
        kept |= {"resize": None} if steps.get("fit") == "stretch" else {}
        how = cls(**kept | dict(steps))
        if how.resize is not None and how.fit == "stretch":
            raise HexsimError(
                f"{spelled('resize')} is for a middle that is cut out, "
                f"{spelled('fit', 'stretch')} cuts nothing"
            )
        return how

    def fault(self) -> str | None:
        """Return what is impossible in these steps, None if they can be done."""
        numbers = (*self.mean, *self.std)
        if not self.mean or not self.std or 0 in self.std or not np.isfinite(numbers).all():
            return "a mean or divisor of pictures that is no number, or is zero"
        if self.mean_image is not None and (fault := self.mean_image.fault()):
            return fault
        too_small = self.resize is not None and self.resize < 1
        return "pictures of no pixels" if too_small else None


def _text(value: object) -> str:
    return ",".join(f"{x:g}" for x in value) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True)
class InputFormat:
    """The form of one input; the default is that of an ONNX file, plain floats.

    `pictures` says how pictures become the input, if that was said when the file was made.
    """

    type: InputType = "default"
    encoding: InputEncoding = "bgr"
    pictures: PictureSteps | None = None

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
            f"{IMAGE_HIGH}; do not normalise the picture, or convert with "
            f"{spelled('input_type', 'default')}"
        )


PLAIN = InputFormat()
"""The default format of inputs."""


CodeType = Literal["uint8", "int8", "uint16", "int16"]


@dataclass(frozen=True)
class CodedEnd:
    """The type of the codes, and real = scale * (code - zero_point)."""

    type: CodeType
    scale: float
    zero_point: int

    def fault(self) -> str | None:
        """Return its fault, if there is one."""
        limits = np.iinfo(self.type)
        if not (np.isfinite(self.scale) and self.scale > 0):
            return f"codes with the scale {self.scale}; expected a positive number"
        if not limits.min <= self.zero_point <= limits.max:
            return f"codes with the zero point {self.zero_point}, which is no {self.type}"
        return None

    def real(self, codes: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
        """Return the float32 values of codes of its type, as DequantizeLinear does."""
        distances = np.asarray(codes, np.int64) - self.zero_point
        return np.asarray(distances.astype(np.float32) * np.float32(self.scale))

    def codes(self, reals: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return the nearest codes of real numbers, ties to even, as QuantizeLinear does."""
        limits = np.iinfo(self.type)
        steps = np.rint(reals.astype(np.float32) / np.float32(self.scale)) + self.zero_point
        return np.asarray(np.clip(steps, limits.min, limits.max), self.type)

    def __str__(self) -> str:
        return f"{self.type}, scale {self.scale:.6g}, zero point {self.zero_point}"
