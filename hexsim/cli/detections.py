"""`hexsim detections` computes the mean average precision of a detector's results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hexsim.cli._files import FILE, MODEL, ReadOption
from hexsim.cli._options import FitOption, ImagesOption, InputListOption, ResizeOption, parse_size
from hexsim.cli._output import JsonCsv
from hexsim.cli._say import say
from hexsim.cli._signature import grouped
from hexsim.errors import HexsimError
from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.accuracy.detections import BoxTensors, SeenPictures

RESULTS = ReadOption(lambda folder: folder.rglob("*.raw"))
"""A folder of results."""


@dataclass(frozen=True)
class Tensors:
    """The tensors that hold detections, and the meaning of their numbers."""

    boxes: Annotated[str, "Tensor of boxes: four fractions each."] = "boxes"
    scores: Annotated[str, "Tensor of scores, one for each box."] = "scores"
    classes: Annotated[str, "Tensor of classes, one for each box."] = "classes"
    box_order: Annotated[Literal["yxyx", "xyxy"], "Order of a box's sides."] = "yxyx"
    first_class: Annotated[int, "Category of the annotations that class 0 is."] = 0

    def named(self) -> BoxTensors:
        """Return these options for the reader of detections."""
        from hexsim.accuracy.detections import BoxTensors

        return BoxTensors(self.boxes, self.scores, self.classes, self.box_order, self.first_class)


@dataclass(frozen=True)
class Pictures:
    """The pictures of the results, and the part of each that the network processed."""

    images: ImagesOption = None
    input_list: InputListOption = None
    model: Annotated[
        str | None, "The model: its input's size, and resize and fit of its file.", MODEL
    ] = None
    size: Annotated[str | None, "Input in pixels, 300 or HEIGHT,WIDTH: what was cut out."] = None
    resize: ResizeOption = None
    fit: FitOption = None

    def names(self) -> tuple[str, ...]:
        """Return the names of their files in the order of the results."""
        from hexsim.inputs.input_list import first_files
        from hexsim.inputs.preprocessing import picture_files

        if self.images is not None and self.input_list is None:
            return tuple(file.name for file in picture_files(self.images))
        if self.input_list is not None and self.images is None:
            return tuple(file.name for file in first_files(self.input_list))
        raise HexsimError("results are those of --images, or of an --input-list; give one of them")

    def seen(self) -> SeenPictures:
        """Return the visible part of the pictures; raise HexsimError if it is not specified."""
        from hexsim.accuracy.detections import SeenPictures
        from hexsim.cli._inputs import Appearance
        from hexsim.dlc.loading import load
        from hexsim.inputs.pictures import frame_of

        given = Appearance(resize=self.resize, fit=self.fit)
        if self.model is None:
            how = given.preprocessing()
            if how.fit == "crop" and self.size is None:
                raise HexsimError(
                    "what was cut out of a picture follows from the input's proportions; give the "
                    "--model, its --size, or --fit stretch if nothing was cut"
                )
            return SeenPictures(*parse_size(self.size or "1"), how)
        if self.size is not None:
            raise HexsimError("the size of the input is --size or that of --model; leave one out")
        network = load(self.model).network
        frame = frame_of(network, given.preprocessing(network))
        return SeenPictures(frame.height, frame.width, frame.how)


@grouped
def detections(
    *,
    results: Annotated[list[Path], typer.Argument(help="Folders that hexsim run wrote."), RESULTS],
    truth: Annotated[Path, "JSON file of annotations, as COCO has them.", FILE],
    pictures: Pictures,
    tensors: Tensors,
    outputs: JsonCsv,
) -> None:
    """Judge detections: mean average precision, for one folder of results or several."""
    from hexsim.accuracy.detections import average_precision, pictures_of, read_truth
    from hexsim.accuracy.detections import detections as detections_in
    from hexsim.reports.answers import precision_table
    from hexsim.results.answers import DetectionPrecision

    annotations = read_truth(truth)
    images, seen = pictures_of(annotations, pictures.names()), pictures.seen()
    ids = [image.id for image in images]
    precisions = (
        average_precision(
            str(folder),
            annotations,
            ids,
            list(detections_in(folder, annotations, images, tensors.named(), seen)),
        )
        for folder in results
    )
    answer = DetectionPrecision(precision=tuple(precisions))
    outputs.write(json=answer.to_json, csv=answer.to_csv)
    say(precision_table(answer))
