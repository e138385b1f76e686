"""A network that was converted: what its file holds, and which layers fall back to the CPU."""

from typing import Annotated, ClassVar

from hexsim.results.document import Document
from hexsim.runtimes import Runtime
from hexsim.texts.fields import Macs, Part, about


class Fallback(Part):
    """A layer that runtimes refuse for one reason."""

    layer: Annotated[str, about("its name", label="node")]
    type: Annotated[str, about("its type", label="operator")]
    runtimes: Annotated[tuple[Runtime, ...], about("they refuse it", label="falls back from")]
    reason: Annotated[str, about("why")]


class Conversion(Document):
    """The network of a .dlc file that was written, or would be."""

    WRITTEN_BY: ClassVar[str] = "hexsim convert"
    ROWS: ClassVar[str] = "fallbacks"

    network: Annotated[str, about("its name")]
    file: Annotated[str | None, about("the file; null if nothing was written")] = None
    layers: Annotated[int, about("its layers")]
    macs: Annotated[Macs, about("multiply-adds of an inference")]
    parameters: Annotated[int, about("weights and biases")]
    overrides: Annotated[int, about("encodings that are kept for the quantiser")] = 0
    fallbacks: Annotated[tuple[Fallback, ...], about("layers that fall back to the CPU")] = ()

    @property
    def title(self) -> str:
        """The file, or the network, and its size."""
        size = f"{self.macs:,} MACs, {self.parameters:,} parameters"
        return f"{self.file or self.network}: {self.layers} layers, {size}"
