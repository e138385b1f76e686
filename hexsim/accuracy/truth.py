"""Ground truth of detection: a JSON file of annotations in the format of the COCO data set.

The keys `images` (id, file_name, width, height), `annotations` (image_id, category_id, bbox as
left, top, width, height in pixels, iscrowd) and `categories` (id, name) are read. Other keys are
ignored. Left out: outlines and key points.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Gt
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from hexsim.datasheets.refusals import sentence
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.texts.json_text import parse_json
from hexsim.texts.names import visible
from hexsim.texts.text import read_text

Positive = Annotated[float, Gt(0)]


class Picture(BaseModel):
    """A picture, its size in pixels."""

    id: int
    file_name: str
    width: Annotated[int, Gt(0)]
    height: Annotated[int, Gt(0)]


class Annotation(BaseModel):
    """An object on a picture, or a crowd of them."""

    model_config = ConfigDict(allow_inf_nan=False)

    image_id: int
    category_id: int
    bbox: tuple[float, float, Positive, Positive]
    iscrowd: Literal[0, 1] = 0


class Category(BaseModel):
    """A class of objects."""

    id: int
    name: Annotated[str, AfterValidator(visible)] = ""


class Truth(BaseModel):
    """All annotations of a set of pictures."""

    images: Sequence[Picture]
    annotations: Sequence[Annotation]
    categories: Sequence[Category]


def stem(name: str) -> str:
    """Return the common name of a picture and its raw file, as `hexsim prepare` names them."""
    return "_".join(Path(name).stem.replace(":=", " ").split())


def _tree(path: Path, where: str) -> Any:
    """Return the file's content with unchanged texts, since pictures are found by their names."""
    text = read_text(path, "annotations", "give a JSON file as COCO's")
    return parse_json(text, where, as_written=True)


def read_truth(path: Path) -> Truth:
    """Read the annotations at `path`; raise HexsimError naming the first mistake in them."""
    where = f"annotations '{path}'"
    try:
        tree = _tree(path, where)
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    if not isinstance(tree, dict):
        raise HexsimError(f"{where} is no JSON object with images, annotations and categories")
    try:
        truth = Truth.model_validate(tree)
    except ValidationError as error:
        raise HexsimError(sentence(Truth, error, where)) from None
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
