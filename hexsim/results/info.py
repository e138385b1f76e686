"""A model layer by layer: what `info` returns."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import convert
from msgspec.structs import force_setattr

from hexsim.dlc.document import Metadata
from hexsim.graph.imports import ImportReport
from hexsim.planning.plan import PreparedGraph
from hexsim.planning.sections import SectionInfo
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import GraphRecord
from hexsim.results.costs import Footprint
from hexsim.results.document import Document
from hexsim.results.validation import RescaledWeight
from hexsim.runtimes import LayerTarget, Runtime
from hexsim.texts.fields import Macs, Microseconds, Part, about

LETTERS: Mapping[str, LayerTarget] = {"A": "aip", "D": "dsp", "G": "gpu", "C": "cpu", "H": "hta"}
"""Runtimes by the letters of snpe-dlc-info, in its order, and the tensor engine inside aip."""
TARGETS: Mapping[str, LayerTarget] = {**LETTERS, "P": "htp"}
"""The same with the tensor processor."""


class InfoLayer(Part):
    """A layer as snpe-dlc-info lists it; the inputs of the network come first, as type `data`."""

    id: Annotated[int, about("its number in the list", label="id")]
    name: Annotated[str, about("its name", label="layer")]
    type: Annotated[str, about("its type")]
    kind: Annotated[str, about("its type with its function")]
    inputs: Annotated[tuple[str, ...], about("tensors that it reads")]
    outputs: Annotated[tuple[str, ...], about("tensors that it writes")]
    shapes: Annotated[tuple[tuple[int, ...], ...], about("of the outputs; the largest")]
    runtimes: Annotated[tuple[LayerTarget, ...], about("that take it, of `targets`")]
    attributes: Annotated[Mapping[str, str], about("that differ from their defaults")]
    encodings: Annotated[
        Mapping[str, Any], about("of outputs and constants by role; one, or one per channel")
    ]
    origins: Annotated[Mapping[str, str], about("where the encodings come from")]
    floats: Annotated[Mapping[str, str], about("types of tensors that stay float")]
    param_count: Annotated[int, about("its parameters", label="parameters")]
    macs: Annotated[Macs, about("its multiply-accumulates", label="MACs")]
    varies: Annotated[
        tuple[tuple[int, ...], ...], about("axes of each shape whose size depends on values")
    ]

    def __post_init__(self) -> None:
        """Let encodings that were read from a file be those of hexsim.quantization.encodings."""
        if any(isinstance(encoding, dict) for encoding in self.encodings.values()):
            read = {role: read_encoding(tree) for role, tree in self.encodings.items()}
            force_setattr(self, "encodings", read)

    @property
    def letters(self) -> str:
        """The runtimes by the letters of snpe-dlc-info, and P for the tensor processor."""
        return "".join(letter for letter, target in TARGETS.items() if target in self.runtimes)

    @property
    def snpe_letters(self) -> str:
        """The same without the tensor processor, which snpe-dlc-info has not."""
        return self.letters.replace("P", "")


def read_encoding(tree: dict[str, Any]) -> Encoding | AxisEncoding:
    """Return the encoding, one or one per channel, that JSON holds."""
    if "channels" in tree:
        return convert(tree, AxisEncoding)
    return convert(tree, Encoding)


class LayerTimes(Part):
    """The times of an inference, as simulated."""

    runtime: Annotated[Runtime, about("the runtime")]
    chip: Annotated[str, about("the chip")]
    total_us: Annotated[Microseconds, about("with all overheads")]
    layers_us: Annotated[Mapping[str, Microseconds], about("of each layer by its name")]


class MemoryOn(Footprint):
    """The memory of an inference."""

    runtime: Annotated[Runtime, about("the runtime")]
    chip: Annotated[str, about("the chip")]


class Info(Document):
    """A model; encodings with every channel."""

    WRITTEN_BY: ClassVar[str] = "hexsim info"
    ROWS: ClassVar[str] = "layers"

    source: Annotated[str, about("the file or built-in network, as named")]
    network: Annotated[str, about("its name")]
    quantized: Annotated[bool, about("whether it has encodings")]
    metadata: Annotated[Metadata, about("versions and commands that made the file")]
    layers: Annotated[tuple[InfoLayer, ...], about("inputs and layers")]
    targets: Annotated[tuple[LayerTarget, ...], about("runtimes that the layers are tried on")] = ()
    rules: Annotated[str, about("whose rules these are")] = ""
    total_parameters: Annotated[int, about("of all layers")]
    total_macs: Annotated[Macs, about("of all layers")]
    layers_used: Annotated[tuple[str, ...], about("kinds of layers, in capitals")]
    hta_sections: Annotated[
        tuple[SectionInfo, ...], about("sections that are compiled for tensor engines")
    ] = ()
    graphs: Annotated[
        tuple[GraphRecord, ...], about("graphs that are prepared for tensor processors")
    ] = ()
    pictures: Annotated[Mapping[str, str], about("how pictures become inputs, by input")] = {}
    rescaled_weights: Annotated[
        tuple[RescaledWeight, ...] | None, about("weights that the DSP of a chip rescales at load")
    ] = None
    findings: Annotated[tuple[Loss, ...], about("what is lost for certain on a chip")] = ()
    imports: Annotated[ImportReport | None, about("how the nodes were read, if requested")] = None
    memory: Annotated[MemoryOn | None, about("the memory of an inference, if requested")] = None
    prepared: Annotated[
        PreparedGraph | None, about("what preparing its graph takes, with the memory")
    ] = None
    times: Annotated[LayerTimes | None, about("times on a chip, if requested")] = None

    @property
    def title(self) -> str:
        """Name, precision and size."""
        kind = "quantised" if self.quantized else "float"
        return f"{self.network}: {kind}, {len(self.computing)} layers, {self.total_macs:,} MACs"

    @property
    def computing(self) -> tuple[InfoLayer, ...]:
        """The layers without the inputs of the network."""
        return tuple(layer for layer in self.layers if layer.type != "data")
