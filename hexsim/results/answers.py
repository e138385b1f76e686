"""What networks answer: the likeliest classes of inputs, and how right their detections are."""

from typing import Annotated, ClassVar

from hexsim.results.document import Document
from hexsim.texts.fields import Part, Share, about


class Guess(Part, rename={"label": "class"}):
    """A class; infinite scores are null."""

    label: Annotated[int, about("its number")]
    name: Annotated[str | None, about("its name, if names are given")] = None
    score: Annotated[float | None, about("its score in the output of the network")]


class Answer(Part):
    """The likeliest classes of an input, the best first."""

    file: Annotated[str, about("the file of the input, or of its batch")]
    top: Annotated[tuple[Guess, ...], about("the classes")]


class GuessRow(Part, rename={"label": "class"}):
    """A class of an input, as CSV lists it."""

    file: Annotated[str, about("the file of the input, or of its batch")]
    place: Annotated[int, about("1 for the likeliest")]
    label: Annotated[int, about("the number of the class")]
    name: Annotated[str, about("its name, if names are given")]
    score: Annotated[str, about("its score, to nine digits")]


class Answers(Document):
    """What run found with names of classes."""

    WRITTEN_BY: ClassVar[str] = "hexsim run"
    ROW: ClassVar[type[Part] | None] = GuessRow

    answers: Annotated[tuple[Answer, ...], about("every input")]

    @property
    def title(self) -> str:
        """The number of inputs."""
        return f"classes of {len(self.answers)} inputs"

    @property
    def rows(self) -> tuple[GuessRow, ...]:
        """The classes of all inputs."""
        return tuple(
            GuessRow(
                file=answer.file,
                place=place,
                label=guess.label,
                name=guess.name or "",
                score="" if guess.score is None else f"{guess.score:.9g}",
            )
            for answer in self.answers
            for place, guess in enumerate(answer.top, start=1)
        )


class FolderPrecision(Part):
    """A folder of results; null where the pictures show nothing."""

    results: Annotated[str, about("the folder")]
    mean_average_precision: Annotated[Share | None, about("over all overlaps")]
    average_precision_50: Annotated[Share | None, about("at an overlap of 0.50")]
    average_precision_75: Annotated[Share | None, about("at an overlap of 0.75")]
    detections: Annotated[int, about("boxes with a score")]


class DetectionPrecision(Document):
    """How right detections are: means over classes and overlaps 0.50 to 0.95, as COCO has them."""

    WRITTEN_BY: ClassVar[str] = "hexsim detections"
    ROWS: ClassVar[str] = "precision"

    precision: Annotated[tuple[FolderPrecision, ...], about("every folder")]

    @property
    def title(self) -> str:
        """The number of folders."""
        return f"mean average precision of {len(self.precision)} folders"
