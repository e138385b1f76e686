"""The answer on a model: its costs on runtimes, its errors there, and how it is cut."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from hexsim.quantization.model import Model
from hexsim.results.benchmark import Inference, Refusal
from hexsim.results.document import Document
from hexsim.results.partition import Partition
from hexsim.results.validation import Validation
from hexsim.texts.fields import about
from hexsim.texts.figures import figure


class Overview(Document):
    """A model on one or more runtimes of a chip."""

    WRITTEN_BY: ClassVar[str] = "hexsim overview"
    ROWS: ClassVar[str] = "results"

    results: Annotated[tuple[Inference, ...], about("the model on every runtime")]
    refused: Annotated[tuple[Refusal, ...], about("runtimes that do not take it")] = ()
    errors: Annotated[Mapping[str, Validation], about("its errors, by runtime")] = {}
    cuts: Annotated[Mapping[str, Partition], about("its subnets on aip, by runtime")] = {}
    model: Annotated[
        Model | None, about("the model whose weights the page counts", stored=False)
    ] = None

    @property
    def without_page(self) -> str:
        """A page counts the weights."""
        return "" if self.model else "an overview that is brief or was read has no page"

    @property
    def title(self) -> str:
        """The network, the chip, and the time on each runtime."""
        first = self.results[0]
        times = (f"{case.runtime} {figure(case.total_ms)} ms" for case in self.results)
        return f"{first.network} on {first.chip}: {', '.join(times)}"
