"""Detections of a detector, judged by annotations: mean average precision.

The truth is a JSON file in the format of the COCO data set. Its keys `images` (id, file_name,
width, height), `annotations` (image_id, category_id, bbox as left, top, width, height in pixels,
iscrowd) and `categories` (id, name) are read; others are ignored. Left out: outlines and key
points.

Detections are read from the raw files that `hexsim run` wrote. Boxes are four fractions of the part
of an image that the network saw, each box with a score and a class. Boxes without a score above
zero only fill up a tensor of fixed size. Left out: heads without suppression of overlapping boxes,
and boxes around anchors.

The mean average precision is that of the COCO data set, computed by its own library, pycocotools:
the mean over classes, and over ten overlaps from 0.5 to 0.95, of the precision at 101 recalls; 100
detections of a picture count. Source: the library (BSD licence), whose figures papers publish.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Meta, to_builtins

from hexsim.errors import HexsimError, spelled
from hexsim.files.places import require_ordinary
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.preprocessing import crop_box
from hexsim.records import dataclass
from hexsim.results.answers import FolderPrecision
from hexsim.texts.extras import missing
from hexsim.texts.tables import Table, read
from hexsim.texts.text import read_text, visible
from hexsim.texts.trees import parse_json

Positive = Annotated[float, Meta(gt=0)]


class Picture(Table):
    """A picture, its size in pixels."""

    id: int
    file_name: str
    width: Annotated[int, Meta(gt=0)]
    height: Annotated[int, Meta(gt=0)]


class Annotation(Table):
    """An object on a picture, or a crowd of them."""

    image_id: int
    category_id: int
    bbox: tuple[float, float, Positive, Positive]
    iscrowd: Literal[0, 1] = 0


class Category(Table):
    """A class of objects."""

    id: int
    name: str = ""


class Truth(Table):
    """All annotations of a set of pictures."""

    images: Sequence[Picture]
    annotations: Sequence[Annotation]
    categories: Sequence[Category]


def stem(name: str) -> str:
    """Return the common name of a picture and its raw file, as `hexsim prepare` names them."""
    return "_".join(Path(name).stem.replace(":=", " ").split())


def read_truth(path: Path) -> Truth:
    """Read the annotations at `path`; raise HexsimError naming the first mistake in them."""
    where = f"annotations '{path}'"
    text = read_text(path, "annotations", "give a JSON file as COCO's")
    tree = parse_json(text, where, as_written=True)
    truth = read(Truth, tree, where)
    for key, ids, used_ids in (
        ("image_id", {image.id for image in truth.images}, {a.image_id for a in truth.annotations}),
        (
            "category_id",
            {category.id for category in truth.categories},
            {a.category_id for a in truth.annotations},
        ),
    ):
        if used_ids - ids:
            raise HexsimError(
                f"{where}: {key} {min(used_ids - ids)} is that of nothing in the file"
            )
    if len({image.id for image in truth.images}) < len(truth.images):
        raise HexsimError(f"{where}: two images have one id; number them apart")
    return truth


def pictures_of(truth: Truth, names: Sequence[str]) -> tuple[Picture, ...]:
    """Return the picture for each name of a picture or raw file; HexsimError if there is none."""
    image_of = {stem(image.file_name): image for image in truth.images}
    for name in names:
        if stem(name) not in image_of:
            raise HexsimError(f"the annotations have no image for '{name}'; leave that input out")
    return tuple(image_of[stem(name)] for name in names)


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


@dataclass(frozen=True)
class Detection:
    """A detected box: picture, class, (left, top, width, height) in pixels, score."""

    image: int
    category: int
    box: tuple[float, float, float, float]
    score: float


def average_precision(
    folder: str, truth: Truth, images: Sequence[int], detections: Sequence[Detection]
) -> FolderPrecision:
    """Evaluate the `detections` of a folder of results on the pictures `images`.

    Raises HexsimError without pycocotools.
    """
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError:
        needs = "mean average precision needs pycocotools, which is not installed"
        raise missing(needs, "detection") from None
    with redirect_stdout(io.StringIO()):  # the library prints its progress
        truth_coco, detected_coco = COCO(), COCO()
        _fill(truth_coco, truth, _annotations(truth))
        _fill(detected_coco, truth, _results(detections))
        judge = COCOeval(truth_coco, detected_coco, "bbox")
        judge.params.imgIds = sorted(images)
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    mean, at_50, at_75 = (float(stat) if stat >= 0 else None for stat in judge.stats[:3])
    return FolderPrecision(
        results=folder,
        mean_average_precision=mean,
        average_precision_50=at_50,
        average_precision_75=at_75,
        detections=len(detections),
    )


def _fill(coco: Any, truth: Truth, annotations: list[dict[str, Any]]) -> None:
    coco.dataset = {
        "images": [to_builtins(image) for image in truth.images],
        "categories": [{"id": kind.id, "name": visible(kind.name)} for kind in truth.categories],
        "annotations": annotations,
    }
    coco.createIndex()


def _annotations(truth: Truth) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "image_id": annotation.image_id,
            "category_id": annotation.category_id,
            "bbox": list(annotation.bbox),
            "area": annotation.bbox[2] * annotation.bbox[3],
            "iscrowd": annotation.iscrowd,
        }
        for number, annotation in enumerate(truth.annotations, start=1)
    ]


def _results(detections: Sequence[Detection]) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "image_id": detection.image,
            "category_id": detection.category,
            "bbox": list(detection.box),
            "area": detection.box[2] * detection.box[3],
            "iscrowd": 0,
            "score": detection.score,
        }
        for number, detection in enumerate(detections, start=1)
    ]
