"""A decision: chip, runtime, quantiser mode and cut for a network, within limits.

Or, where files are compared instead, a float and a quantised file on every runtime.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Reference
from hexsim.results.accuracy import LEAST_DB, OutputAccuracy, judged_db
from hexsim.results.costs import AnchorError, TimeError
from hexsim.results.document import Document
from hexsim.results.validation import Sensitivity
from hexsim.runtimes import MAIN_ENGINE, Runtime
from hexsim.texts.fields import (
    Bytes,
    Decibels,
    Microseconds,
    Millijoules,
    Milliseconds,
    Part,
    Share,
    about,
    unit,
)

Points = Annotated[float, unit("percentage points")]
Mebibytes = Annotated[float, unit("MiB")]
Cut = Literal["", "none", "automatic", "fastest"]
"""Which HTA sections: not applicable, none, the compiler's, the fastest ones."""
Preference = Literal["latency", "accuracy", "memory", "energy"]
FileKind = Literal["float", "quantised"]


class Limits(Part):
    """The largest time, memory, energy and loss, and the smallest SQNR; null sets no limit.

    Loss is in percentage points of top-1 accuracy against float, or of agreement with float where
    there are no labels.
    """

    max_ms: Annotated[Milliseconds | None, about("most time of an inference")] = None
    max_mb: Annotated[Mebibytes | None, about("most memory at its peak")] = None
    max_mj: Annotated[Millijoules | None, about("most energy of an inference")] = None
    max_loss: Annotated[Points | None, about("most accuracy lost")] = None
    min_db: Annotated[Decibels | None, about("least SQNR of the outputs")] = None

    @property
    def about_accuracy(self) -> bool:
        """True if a limit on loss or SQNR is set."""
        return self.max_loss is not None or self.min_db is not None


class Choice(Part):
    """A quantiser mode on a runtime of a chip with a cut, within the limits; the best is first."""

    rank: Annotated[int, about("its place in the ranking, from 1")] = 0
    mode: Annotated[str, about("the quantiser mode")]
    quantizer_words: Annotated[tuple[str, ...], about("options of `hexsim quantize` for it")] = ()
    float_tensors: Annotated[
        tuple[str, ...], about("outputs of the layers that stay float in this mode")
    ] = ()
    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    runtime: Annotated[Runtime, about("the runtime")]
    cut: Annotated[Cut, about("HTA sections: none, automatic or fastest; empty: not for it")] = ""
    hta_partitions: Annotated[str, about("the sections, as `compile_hta` reads them")] = ""
    total_inference_us: Annotated[
        Microseconds, about("wall clock around the call", label="total inference", shown="ms")
    ]
    low_us: Annotated[Microseconds | None, about("lower end of nine in ten draws")] = None
    high_us: Annotated[Microseconds | None, about("upper end of nine in ten draws")] = None
    forward_propagate_us: Annotated[Microseconds, about("what the runtime reports")]
    initialisation_us: Annotated[Microseconds, about("before the first inference")]
    parameter_bytes: Annotated[Bytes, about("parameters in the file")]
    peak_bytes: Annotated[Bytes, about("memory at its peak", label="peak", shown="MiB")]
    energy_mj: Annotated[Millijoules, about("energy, with the constants as stated")]
    energy_low_mj: Annotated[Millijoules, about("with all constants at their lower ends")]
    energy_high_mj: Annotated[Millijoules, about("with all constants at their upper ends")]
    inputs: Annotated[int, about("inputs that judge its answers")] = 0
    same_top1: Annotated[
        int | None, about("inputs with the winner of float; null: no classifier")
    ] = None
    runtime_top1: Annotated[int | None, about("inputs whose right class wins")] = None
    loss_points: Annotated[
        Points | None, about("top-1 or agreement lost against float; null: no classifier")
    ] = None
    sqnr_db: Annotated[Decibels | None, about("of the worst output; null without any noise")] = None
    in_front: Annotated[bool, about("whether no other choice is as good in every figure")] = False
    expected_us: Annotated[
        Microseconds,
        about("the middle of the interval of its place or engine, by which it is ranked"),
    ]
    outputs: Annotated[tuple[OutputAccuracy, ...], about("every output")] = ()
    findings: Annotated[tuple[Loss, ...], about("what its encodings lose for certain")] = ()
    order: Annotated[int, about("of two modes, the plainer has the lower", stored=False)] = 0
    values: Annotated[str, about("a hash of its arithmetic", stored=False)] = ""
    float_top1: Annotated[int | None, about("inputs that float has right", stored=False)] = None
    draws_us: Annotated[tuple[float, ...], about("its time in each draw", stored=False)] = ()

    @property
    def hardware(self) -> tuple[str, str]:
        """The chip and its engine, whose constants the time depends on most."""
        return self.chip, MAIN_ENGINE[self.runtime]

    @property
    def is_noise(self) -> bool:
        """True if the outputs are too noisy to be of use."""
        return judged_db(self.sqnr_db, self.outputs) < LEAST_DB

    @property
    def ms(self) -> float:
        """Time of one inference as the application sees it."""
        return self.total_inference_us / 1e3

    @property
    def peak_mib(self) -> float:
        """Memory at its peak."""
        return self.peak_bytes / 2**20

    @property
    def place(self) -> tuple[str, Runtime, Cut]:
        """Chip, runtime and cut."""
        return self.chip, self.runtime, self.cut

    @property
    def where(self) -> str:
        """Runtime and cut in words."""
        return f"{self.runtime} ({self.cut} cut)" if self.cut else self.runtime


class RuledOut(Part):
    """A mode on a runtime of a chip that is ruled out."""

    mode: Annotated[str, about("the quantiser mode, or all")]
    chip: Annotated[str, about("the chip")]
    where: Annotated[str, about("the runtime, with its cut")]
    reason: Annotated[str, about("why")]
    limit: Annotated[bool, about("whether a limit is the reason, so that it would have worked")]
    figure: Annotated[str, about("what is beyond the limit, with its unit; else empty")] = ""
    value: Annotated[float | None, about("the same as a number; null without a limit")] = None

    @property
    def rule(self) -> str:
        """The limit in words, or the reason, without the figure of this choice."""
        return self.reason.removeprefix(f"{self.figure}, ")


class TriedChange(Part):
    """A change of the network that was tried on a copy, and that makes the first choice faster."""

    name: Annotated[str, about("the change", label="change")]
    layers: Annotated[tuple[str, ...], about("the layers that are changed")]
    before_us: Annotated[Microseconds, about("the time as it is")]
    after_us: Annotated[Microseconds, about("the time with it")]
    same_answers: Annotated[bool, about("false: the network needs retraining")]
    remark: Annotated[str, about("why it may help, or what it needs")] = ""
    saved_low_us: Annotated[
        Microseconds | None, about("nine in ten draws save as much or more; null without draws")
    ] = None
    saved_high_us: Annotated[Microseconds | None, about("and this at most")] = None
    gain: Annotated[Share, about("of the time that it saves; negative if it costs time")]

    @property
    def is_sure(self) -> bool:
        """True unless the constants that are not known may take the gain away."""
        return self.saved_low_us is None or self.saved_low_us > 0


class Rival(Part):
    """The best choice elsewhere: on other hardware than the first, else on another runtime."""

    rank: Annotated[int, about("its place in the ranking")]
    first_quicker_share: Annotated[
        Share | None, about("of the draws in which the first choice is quicker; null without")
    ] = None


class FileChoice(Part):
    """A file on a runtime; the figures of one that is refused are null."""

    file: Annotated[FileKind, about("the file")]
    file_bytes: Annotated[Bytes, about("its size as a .dlc file", label="MiB", shown="MiB")]
    runtime: Annotated[Runtime, about("the runtime")]
    loading: Annotated[str, about("how the runtime loads such a file")]
    refusal: Annotated[str | None, about("why the runtime does not take it")] = None
    initialisation_us: Annotated[Microseconds | None, about("before the first inference")] = None
    initialisation_low_us: Annotated[
        Microseconds | None, about("nine in ten draws of the constants lie between this")
    ] = None
    initialisation_high_us: Annotated[Microseconds | None, about("and this")] = None
    total_inference_us: Annotated[
        Microseconds | None, about("wall clock around the call", label="inference", shown="ms")
    ] = None
    forward_propagate_us: Annotated[Microseconds | None, about("what the runtime reports")] = None
    peak_memory_bytes: Annotated[
        Bytes | None, about("memory at its peak", label="peak", shown="MiB")
    ] = None
    load_memory_bytes: Annotated[
        Bytes | None, about("weights in memory at the peak of the initialisation; not measured")
    ] = None
    load_memory_low_bytes: Annotated[
        Bytes | None, about("the same if the file is read layer by layer")
    ] = None
    load_memory_high_bytes: Annotated[
        Bytes | None, about("the same if the file is in memory while it is unpacked")
    ] = None
    inputs: Annotated[int | None, about("inputs that judge its answers")] = None
    same_top1: Annotated[int | None, about("inputs with the winner of float")] = None
    runtime_top1: Annotated[int | None, about("inputs whose right class wins")] = None
    float_top1: Annotated[int | None, about("the same in float")] = None
    sqnr_db: Annotated[Decibels | None, about("of the worst output; null without any noise")] = None
    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software, with the changes made to it")]
    at_load_us: Annotated[
        Microseconds | None, about("the part of initialisation that quantises or dequantises")
    ] = None
    classes: Annotated[bool, about("whether the first output has classes")] = True
    outputs: Annotated[tuple[OutputAccuracy, ...], about("every output")] = ()


class ChoiceSensitivity(Sensitivity):
    """What quantising one layer at a time costs, the most sensitive layer first."""

    rank: Annotated[int, about("the choice whose layers these are")]


class Decision(Document):
    """What decide found."""

    WRITTEN_BY: ClassVar[str] = "hexsim decide"
    ROWS: ClassVar[str] = "choices"

    network: Annotated[str, about("its name")]
    anchor: Annotated[str | None, about("what the times were calibrated with")] = None
    anchor_error: Annotated[AnchorError | None, about("how wrong it may be")] = None
    anchor_classes: Annotated[Any, about("factors of classes of layers")] = None
    vtcm_mb: Annotated[float | None, about("VTCM that a graph may use; null: all")] = None
    inputs: Annotated[int, about("how many inputs judge")]
    notes: Annotated[tuple[str, ...], about("what judges and calibrates, a sentence each")] = ()
    prefer: Annotated[Preference, about("what is ranked first")] = "latency"
    rule: Annotated[str, about("the ranking in words")] = ""
    limits: Annotated[Limits, about("the limits")] = Limits()
    float_top1: Annotated[int | None, about("inputs that float has right; null unlabelled")] = None
    choices: Annotated[tuple[Choice, ...], about("what is within the limits, best first")] = ()
    sure: Annotated[
        tuple[Share, ...],
        about("draws in which the best of a place is quicker than that of the next place"),
    ] = ()
    changes: Annotated[
        tuple[TriedChange, ...], about("changes of the network that would help, best first")
    ] = ()
    ruled_out: Annotated[tuple[RuledOut, ...], about("what is refused or beyond a limit")] = ()
    commands: Annotated[
        tuple[str, ...], about("commands that give the figures of the first choice again")
    ] = ()
    classifier: Annotated[bool, about("whether the network has classes to count")] = False
    labelled: Annotated[bool, about("whether the right classes are known")] = False
    seeded: Annotated[
        bool, about("whether inputs are made up: they tell modes apart, and say little else")
    ] = False
    rival: Annotated[Rival | None, about("the best choice elsewhere")] = None
    sensitivity: Annotated[
        ChoiceSensitivity | None, about("layers of the best quantised choice, if asked for")
    ] = None
    files: Annotated[
        tuple[FileChoice, ...], about("where files are compared: each file on each runtime")
    ] = ()
    expected_errors: Annotated[
        Mapping[str, TimeError],
        about("how far times have been from measured ones, by chip and runtime, where known"),
    ] = {}
    findings: Annotated[tuple[Loss, ...], about("what a quantised file loses for certain")] = ()
    reference: Annotated[Reference, about("what outputs of files are compared with")] = (
        "float network"
    )
    unstored: Annotated[str, about("why results are not kept for a next run", stored=False)] = ""
    timelines: Annotated[
        Any, about("a function that simulates the best of each place", stored=False)
    ] = None

    @property
    def rows(self) -> tuple[Part, ...]:
        """The choices, or where files are compared, these."""
        return self.choices or self.files

    @property
    def title(self) -> str:
        """How many choices there are."""
        if self.files:
            refused = sum(choice.refusal is not None for choice in self.files)
            chips = ", ".join(dict.fromkeys(choice.chip for choice in self.files))
            return f"{self.network} on {chips}: {len(self.files)} choices, {refused} refused"
        ruled_out = f"{len(self.ruled_out)} ruled out"
        return f"{self.network}: {len(self.choices)} within the limits, {ruled_out}"


def heads(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return the first choice of each place, in their order."""
    first: dict[object, Choice] = {}
    for choice in choices:
        first.setdefault(choice.place, choice)
    return tuple(first.values())
