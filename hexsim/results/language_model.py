"""The speed and the memory of a language model on a tensor processor."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from hexsim.llm.architecture import Architecture
from hexsim.llm.network import Conditions
from hexsim.results.costs import Millijoule, TimeError
from hexsim.results.document import Document
from hexsim.texts.fields import Bytes, Milliseconds, Part, PerSecond, about
from hexsim.texts.figures import figure


class Pass(Part):
    """A pass through all parts of the model; its energy is without that of hand-overs."""

    ms: Annotated[Milliseconds, about("its duration")]
    parts_ms: Annotated[Mapping[str, Milliseconds], about("what that is spent on")]
    ddr_bytes: Annotated[Bytes, about("from and to DDR")]
    energy: Annotated[Millijoule, about("its energy")]


class DeployedMemory(Part):
    """What a deployment keeps in memory; both networks share their weights."""

    weights: Annotated[Bytes, about("weights")]
    embedding: Annotated[Bytes, about("the table that the CPU reads")]
    cache: Annotated[Bytes, about("keys and values")]
    activations: Annotated[Bytes, about("arenas of all parts, and buffers beside the cache")]
    peak: Annotated[Bytes, about("all of it")]
    peak_without_sharing: Annotated[Bytes, about("if each network has its own weights")]


class ModelPart(Part):
    """A part of the model."""

    first_layer: Annotated[int, about("its first layer")]
    layers: Annotated[int, about("how many it has")]
    head: Annotated[bool, about("whether it has the head")]
    bytes: Annotated[Bytes, about("weights and cache")]


class Gain(Part):
    """A change that could help, simulated anew."""

    change: Annotated[str, about("what is changed")]
    tokens_per_second: Annotated[PerSecond, about("generated tokens")]
    peak_bytes: Annotated[Bytes, about("memory at its peak")]
    first_token_ms: Annotated[Milliseconds, about("from the prompt to the first token")]


class LanguageModel(Document):
    """The speed and the memory of a language model; contexts and prompts in tokens."""

    WRITTEN_BY: ClassVar[str] = "hexsim llm"
    ROWS: ClassVar[str] = "parts"

    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    vtcm_mb: Annotated[float | None, about("VTCM that a graph may use; null: all")] = None
    architecture: Annotated[Architecture, about("the sizes of the model")]
    conditions: Annotated[Conditions, about("how it is deployed and used; `part_gb` in GB")]
    parameters: Annotated[int, about("weights of all matrices")]
    tokens_per_second: Annotated[PerSecond, about("generated tokens")]
    expected_error: Annotated[
        TimeError | None, about("how far such rates have been from measured ones; null: not known")
    ] = None
    tokens_per_second_by_context: Annotated[
        Mapping[int, PerSecond], about("the same, of graphs for shorter contexts")
    ]
    first_token_ms: Annotated[
        Mapping[int, Milliseconds], about("from the prompt to the first token, by its length")
    ]
    total_ms: Annotated[Milliseconds, about("the whole answer")]
    token: Annotated[Pass, about("a generated token")]
    block: Annotated[Pass, about("a block of the prompt")]
    memory_bytes: Annotated[DeployedMemory, about("its memory, in bytes")]
    parts: Annotated[tuple[ModelPart, ...], about("graphs of their own")]
    what_if: Annotated[tuple[Gain, ...], about("what changes would gain, if that was asked")] = ()
    software: Annotated[str, about("the stack with the changes made to it")] = ""
    timelines: Annotated[
        Any, about("events of a token and of a block, by name, if recorded", stored=False)
    ] = None

    @property
    def title(self) -> str:
        """The model, the platform, and the rate."""
        rate = figure(self.tokens_per_second)
        return f"{self.architecture.name} on {self.chip}: {rate} tokens/s"
