"""How far a runtime's values are from float: what `validate` returns."""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Reference
from hexsim.results.accuracy import OutputAccuracy, as_db, sqnr_label, worst_db
from hexsim.results.document import Document
from hexsim.runtimes import Runtime, placed
from hexsim.texts.fields import Decibels, Part, Share, about
from hexsim.texts.figures import figure


class HitCounts(Part):
    """Counts over the inputs, those against labels only with labels."""

    inputs: Annotated[int, about("how many")]
    same_top1: Annotated[int | None, about("with the winner of float; only of classifiers")] = None
    float_top1: Annotated[int | None, about("whose right class wins in float")] = None
    float_top5: Annotated[int | None, about("whose right class is among the best five")] = None
    runtime_top1: Annotated[int | None, about("the same on the runtime")] = None
    runtime_top5: Annotated[int | None, about("the same on the runtime")] = None


class TensorError(Part):
    """A tensor on the runtime that computes it, against float.

    The noise that a layer adds is noise over signal, less that of its noisiest input.
    """

    layer: Annotated[str, about("the layer that writes it; an input itself")]
    type: Annotated[str, about("the type of the layer; `data` for inputs")]
    tensor: Annotated[str, about("its name")]
    runtime: Annotated[Runtime, about("what computes it")]
    sqnr_db: Annotated[Decibels | None, about("signal over noise; null without any noise")]
    cosine: Annotated[float | None, about("of the angle between both")]
    max_error: Annotated[float | None, about("the largest; null if infinite")]
    added_noise: Annotated[
        float | None,
        about("noise over signal, less that of the layer's noisiest input; null if infinite"),
    ]
    low: Annotated[float | None, about("the smallest float value; null if infinite")]
    high: Annotated[float | None, about("the largest float value; null if infinite")]
    encoding: Annotated[Encoding | None, about("its encoding; null if it stays float")] = None
    clipped: Annotated[Share, about("values over half a step outside the encoding")] = 0.0
    constant: Annotated[tuple[int, ...], about("channels whose float value never changes")] = ()

    @property
    def noise(self) -> float:
        """The noise that its layer adds, infinite for noise without any signal."""
        return math.inf if self.added_noise is None else self.added_noise

    @property
    def seen(self) -> tuple[float, float]:
        """The ends of its float values, which may be infinite."""
        low, high = self.low, self.high
        return -math.inf if low is None else low, math.inf if high is None else high


class RescaledWeight(Part):
    """A weight that the runtime rescales to signed values at load, and what that loses."""

    layer: Annotated[str, about("its layer", label="layer")]
    weight: Annotated[str, about("its name", label="weight")]
    sqnr_db: Annotated[Decibels | None, about("signal over noise", label="SQNR", shown="dB")]
    max_error: Annotated[float, about("the largest, in real units", label="max error")]
    steps: Annotated[float, about("the same in steps of its encoding", label="in steps")]


class BeforeEqualization(Part):
    """The comparison with the float network before its weights were equalised."""

    hits: Annotated[HitCounts, about("counts; those in float are of that network")]
    output_sqnr_db: Annotated[Decibels | None, about("of the worst output")]
    outputs: Annotated[tuple[OutputAccuracy, ...], about("every output")]


class LayerSensitivity(Part):
    """The SQNR of the outputs with one layer in integers, and with all but one."""

    layer: Annotated[str, about("the layer", label="layer")]
    type: Annotated[str, about("its type")]
    only_db: Annotated[Decibels | None, about("only this layer", label="only this")]
    others_db: Annotated[Decibels | None, about("all but this layer", label="all but this")]


class Sensitivity(Part):
    """Layers by the accuracy that they lose, the most sensitive first."""

    inputs: Annotated[int, about("how many judge")]
    all_db: Annotated[Decibels | None, about("with all layers in integers")]
    layers: Annotated[tuple[LayerSensitivity, ...], about("every layer that computes")]


class DiagnosedCause(Part):
    """A cause of a layer's noise, and the layer's SQNR without it."""

    kind: Annotated[str, about("its name")]
    tensor: Annotated[str, about("the tensor or weight")]
    finding: Annotated[str, about("what is wrong with it")]
    remedy: Annotated[str, about("what to do")]
    remedied_db: Annotated[Decibels | None, about("with the remedy; null without any noise")]


class Diagnosis(Part):
    """A layer alone on float inputs: its SQNR, and the causes of its noise, the worst first."""

    layer: Annotated[str, about("the layer")]
    type: Annotated[str, about("its type")]
    alone_db: Annotated[Decibels | None, about("as it is; null without any noise")]
    findings: Annotated[tuple[DiagnosedCause, ...], about("causes that were confirmed")]


class Distribution(Part):
    """Counts of the float values of a tensor, bin by bin."""

    layer: Annotated[str, about("its layer")]
    tensor: Annotated[str, about("its name")]
    sqnr_db: Annotated[Decibels, about("its error")]
    clipped: Annotated[Share, about("values outside the encoding")]
    encoding: Annotated[Encoding, about("its encoding")]
    first_bin: Annotated[float, about("where the first bin begins")]
    bin_width: Annotated[float, about("the width of each bin")]
    counts: Annotated[tuple[int, ...], about("values in each bin")]


class RemedyTrial(Part):
    """Remedies on all layers at once, and the SQNR of the outputs before a final softmax."""

    remedies: Annotated[tuple[str, ...], about("what was changed")]
    before_db: Annotated[Decibels | None, about("as it is; null without any noise")]
    after_db: Annotated[Decibels | None, about("with them; null without any noise")]

    @property
    def helps(self) -> bool:
        """Whether the outputs are better with it, in the decimals that are shown."""
        if self.before_db is None or self.after_db is None:
            return self.before_db is not None
        return round(self.after_db, 1) > round(self.before_db, 1)


class Validation(Document):
    """What validate found; layers are in network order."""

    WRITTEN_BY: ClassVar[str] = "hexsim validate"
    ROWS: ClassVar[str] = "layers"

    network: Annotated[str, about("its name")]
    chip: Annotated[str, about("the chip")]
    runtime: Annotated[Runtime, about("the runtime")]
    precision: Annotated[str, about("bits, and where encodings come from, in words")] = ""
    notes: Annotated[
        tuple[str, ...], about("where inputs, encodings and the float reference come from")
    ] = ()
    hits: Annotated[HitCounts, about("inputs, winners and right classes")]
    output_sqnr_db: Annotated[
        Decibels | None, about("of the worst output; null without noise or outputs to compare")
    ]
    output_sqnr_reference: Annotated[Reference, about("what values are compared with")] = (
        "float network"
    )
    output_notes: Annotated[tuple[str, ...], about("outputs that are not compared, and why")] = ()
    outputs: Annotated[tuple[OutputAccuracy, ...], about("every output; the worst decides")]
    before_equalization: Annotated[
        BeforeEqualization | None, about("against the float file, if weights were equalised")
    ] = None
    layers: Annotated[tuple[TensorError, ...], about("every float tensor")]
    rescaled_weights: Annotated[
        tuple[RescaledWeight, ...], about("weights that become signed at load")
    ] = ()
    findings: Annotated[tuple[Loss, ...], about("what is lost for certain")] = ()
    sensitivity: Annotated[Sensitivity | None, about("which layers matter, if requested")] = None
    diagnoses: Annotated[
        tuple[Diagnosis, ...] | None, about("why the worst layers lose accuracy, if requested")
    ] = None
    distributions: Annotated[
        tuple[Distribution, ...] | None, about("values of the tensors with the lowest SQNR")
    ] = None
    remedies: Annotated[
        tuple[RemedyTrial, ...] | None, about("what would help, best first, if requested")
    ] = None
    graph: Annotated[Any, about("the network", stored=False)] = None

    @property
    def title(self) -> str:
        """Network, place and error of the worst output."""
        where = placed(self.network, self.runtime, self.chip, self.precision)
        label = sqnr_label(self.output_sqnr_reference)
        return f"{where}: {label} {figure(worst_db(self.outputs))} dB, {self.hits.inputs} inputs"

    def worst(self, count: int = 10) -> tuple[TensorError, ...]:
        """Return the tensors whose layers add most noise, the most first."""
        return tuple(most_added(self.layers)[:count])


def most_added(layers: Iterable[TensorError]) -> list[TensorError]:
    """Return tensors in decreasing order of the noise that their layers add."""
    return sorted(layers, key=lambda row: -row.noise)


def worst_rescaled(losses: Sequence[RescaledWeight]) -> RescaledWeight:
    """Return the weight with the lowest SQNR."""
    return min(losses, key=lambda loss: as_db(loss.sqnr_db))
