"""Read detections from the raw files that `hexsim run` wrote.

Boxes are four fractions of the part of an image that the network saw, each box with a score and a
class. Boxes without a score above zero only fill up a tensor of fixed size.
Left out: heads without suppression of overlapping boxes, and boxes around anchors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from hexsim.accuracy.average_precision import Detection
from hexsim.accuracy.truth import Picture, Truth
from hexsim.errors import HexsimError, spelled
from hexsim.files import require_ordinary
from hexsim.graph.input_format import PictureSteps
from hexsim.inputs.preprocessing import crop_box

Order = Literal["yxyx", "xyxy"]


@dataclass(frozen=True)
class BoxTensors:
    """Names of the tensors that hold boxes, scores and classes, and the meaning of their numbers.

    `order` is the order of a box's sides; class 0 is `first_class` in the annotations.
    """

    boxes: str
    scores: str
    classes: str
    order: Order = "yxyx"
    first_class: int = 0


@dataclass(frozen=True)
class SeenPictures:
    """The size of the network's input, and the preprocessing of images."""

    height: int
    width: int
    how: PictureSteps


def detections(
    folder: Path, truth: Truth, pictures: Sequence[Picture], tensors: BoxTensors, seen: SeenPictures
) -> Iterator[Detection]:
    """Yield the detections in Result_0, Result_1, ... of `folder`, one folder per picture.

    Raises HexsimError for files that are missing, or do not fit one another or the annotations.
    """
    categories = {category.id for category in truth.categories}
    for index, picture in enumerate(pictures):
        place = folder / f"Result_{index}"
        boxes, scores, classes = (
            _numbers(place, name) for name in (tensors.boxes, tensors.scores, tensors.classes)
        )
        if not len(boxes) == 4 * len(scores) == 4 * len(classes):
            raise HexsimError(
                f"'{place}' has {len(boxes)} numbers of boxes, {len(scores)} scores and "
                f"{len(classes)} classes; a box has four numbers, one score and one class"
            )
        for box, score, label in zip(boxes.reshape(-1, 4), scores, classes, strict=True):
            if score <= 0:
                continue
            category = round(float(label)) + tensors.first_class
            if category not in categories:
                raise HexsimError(
                    f"'{place}' has class {float(label):g}, and the annotations no category "
                    f"{category}; say where classes begin with {spelled('first_class')}"
                )
            corners = _in_pixels(box, picture, tensors.order, seen)
            yield Detection(picture.id, category, corners, float(score))


def _in_pixels(
    box: npt.NDArray[np.float32], picture: Picture, order: Order, seen: SeenPictures
) -> tuple[float, float, float, float]:
    """Return left, top, width and height on the picture."""
    first, second, third, fourth = map(float, box)
    sides = (second, first, fourth, third) if order == "yxyx" else (first, second, third, fourth)
    part = crop_box((picture.width, picture.height), seen.height, seen.width, seen.how)
    wide, high = part[2] - part[0], part[3] - part[1]
    left, right = (part[0] + side * wide for side in (sides[0], sides[2]))
    top, bottom = (part[1] + side * high for side in (sides[1], sides[3]))
    return left, top, right - left, bottom - top


def _numbers(place: Path, name: str) -> npt.NDArray[np.float32]:
    path = place / f"{name.strip('/')}.raw"
    require_ordinary(path)
    try:
        values = np.frombuffer(path.read_bytes(), "<f4")
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it holds no float32 numbers"
        raise HexsimError(
            f"cannot read '{path}': {reason}; run the network on all pictures, with its outputs "
            f"'{name}'"
        ) from None
    if not np.isfinite(values).all():
        raise HexsimError(f"'{path}' holds NaN or infinity, which are no detections")
    return values
