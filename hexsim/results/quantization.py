"""The encodings of a quantised model, and how right its outputs are: what `quantize` reports."""

from typing import Annotated, Any, ClassVar, Literal

from msgspec.structs import force_setattr

from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import KeyOutcome
from hexsim.results.accuracy import OutputAccuracy, sqnr_text
from hexsim.results.document import Document
from hexsim.results.info import read_encoding
from hexsim.runtimes import Runtime
from hexsim.texts.fields import Part, about


class TensorEncoding(Part):
    """A tensor; a bias at the accumulator's scale has neither encoding nor data type."""

    name: Annotated[str, about("its name")]
    section: Annotated[Literal["activation", "parameter"], about("what it is")]
    origin: Annotated[str, about("where its encoding comes from")]
    data_type: Annotated[str | None, about("the type of its numbers")] = None
    encoding: Annotated[
        Any, about("one, or one per channel; null for a tensor that stays float")
    ] = None

    def __post_init__(self) -> None:
        """Let an encoding that was read from a file be one of hexsim.quantization.encodings."""
        if isinstance(self.encoding, dict):
            force_setattr(self, "encoding", read_encoding(self.encoding))


class Score(Part):
    """The outputs on a runtime against float, on inputs that did not calibrate."""

    chip: Annotated[str, about("the chip")]
    runtime: Annotated[Runtime, about("the runtime")]
    inputs: Annotated[str | None, about("the inputs that judge; null if all calibrated")] = None
    outputs: Annotated[tuple[OutputAccuracy, ...], about("every output; the worst decides")] = ()
    refusal: Annotated[str | None, about("why there are none, if the runtime refuses")] = None


class Quantization(Document):
    """The encodings of a model, the overrides of the user, and what is lost for certain."""

    WRITTEN_BY: ClassVar[str] = "hexsim quantize --encodings-report"
    ROWS: ClassVar[str] = "encodings"

    network: Annotated[str, about("its name")]
    overrides: Annotated[tuple[KeyOutcome, ...], about("what became of each override")] = ()
    findings: Annotated[tuple[Loss, ...], about("what is lost for certain")] = ()
    encodings: Annotated[tuple[TensorEncoding, ...], about("every tensor with an encoding")]
    score: Annotated[Score | None, about("how right its outputs are, if inputs judge")] = None

    @property
    def title(self) -> str:
        """The number of encodings, and the score."""
        outputs = self.score.outputs if self.score else ()
        scored = f", SQNR of the outputs {sqnr_text(outputs)}" if outputs else ""
        return f"{self.network}: {len(self.encodings)} encodings{scored}"


def quantization_of(model: Model, score: Score | None = None) -> Quantization:
    """Return the report on a quantised model."""
    network = model.network
    return Quantization(
        network=network.name,
        overrides=model.overrides,
        findings=model.findings,
        encodings=tuple(
            TensorEncoding(
                name=name,
                section="parameter" if name in network.weights else "activation",
                origin=origin,
                data_type=model.data_type(name),
                encoding=model.encoding(name),
            )
            for name, origin in model.origins.items()
        ),
        score=score,
    )
