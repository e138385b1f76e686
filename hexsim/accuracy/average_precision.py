"""Mean average precision of detections, as the COCO data set defines it.

It is computed by that data set's own library, pycocotools: the mean over classes, and over ten
overlaps from 0.5 to 0.95, of the precision at 101 recalls; 100 detections of a picture count.
Source: the library (BSD licence), whose figures papers publish.
"""

import io
import math
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from hexsim.accuracy.truth import Truth
from hexsim.texts.extras import missing


@dataclass(frozen=True)
class Detection:
    """A detected box: picture, class, (left, top, width, height) in pixels, score."""

    image: int
    category: int
    box: tuple[float, float, float, float]
    score: float


@dataclass(frozen=True)
class Precision:
    """Mean average precision over all overlaps, and at overlaps of 0.5 and 0.75, from 0 to 1.

    NaN if the pictures have no annotations.
    """

    mean: float
    at_50: float
    at_75: float
    detections: int


def average_precision(
    truth: Truth, images: Sequence[int], detections: Sequence[Detection]
) -> Precision:
    """Evaluate `detections` on the pictures `images`; raise HexsimError without pycocotools."""
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
    mean, at_50, at_75 = (float(stat) if stat >= 0 else math.nan for stat in judge.stats[:3])
    return Precision(mean, at_50, at_75, len(detections))


def _fill(coco: Any, truth: Truth, annotations: list[dict[str, Any]]) -> None:
    coco.dataset = {
        "images": [image.model_dump() for image in truth.images],
        "categories": [category.model_dump() for category in truth.categories],
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
