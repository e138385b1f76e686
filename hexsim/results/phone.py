"""The profile of a phone beside a simulation: what `hexsim.compare_measured` returns."""

from typing import Annotated, Any, ClassVar

from hexsim.graph.ir import Shape
from hexsim.quantization.evidence import Loss
from hexsim.results.costs import AnchorError
from hexsim.results.document import Document
from hexsim.runtimes import Runtime
from hexsim.texts.fields import Microseconds, Part, about, taken
from hexsim.texts.figures import figure


class Pair(Part):
    """A figure of the phone and of the simulation."""

    measured_us: Annotated[Microseconds, about("on the phone")]
    simulated_us: Annotated[Microseconds, about("as simulated")]
    ratio: Annotated[float | None, about("simulated over measured; null for a measured 0")]
    name: Annotated[str, about("what it is")]


class LayerPair(Pair, rename={"layer_class": "class"}):
    """A layer of both sides."""

    layer_class: Annotated[str, about("the class in which layers are added up")]
    type: Annotated[str, about("its type")]
    index: Annotated[int, about("its number, counted from the inputs")]
    output_nchw: Annotated[Shape, about("the shape of its output, as in the ONNX file")]
    rows: Annotated[tuple[str | int, ...], about("rows of the phone that are this layer")]
    low_us: Annotated[float, about("the shortest of the phone", stored=False)] = 0.0
    high_us: Annotated[float, about("the longest of the phone", stored=False)] = 0.0


class MeasuredOnly(Part):
    """A layer that only the phone has."""

    name: Annotated[str, about("its name; empty if the file has none")]
    id: Annotated[int | None, about("its number, if the file has one")]
    type: Annotated[str, about("the tool's word for it")]
    measured_us: Annotated[Microseconds, about("on the phone")]


class SimulatedOnly(Part):
    """A layer that only the simulation has."""

    name: Annotated[str, about("its name")]
    simulated_us: Annotated[Microseconds, about("as simulated")]


class PhoneRow(Part, rename={"row_class": "class"}):
    """A layer, class or total, as CSV lists it."""

    kind: Annotated[str, about("layer, class, total, only measured or only simulated")]
    name: Annotated[str | int | None, about("its name, or its number")]
    row_class: Annotated[str | None, about("the class of a layer")] = None
    type: Annotated[str | None, about("the type of a layer")] = None
    output_nchw: Annotated[str | None, about("the shape of its output")] = None
    measured_us: Annotated[Microseconds | None, about("on the phone")] = None
    simulated_us: Annotated[Microseconds | None, about("as simulated")] = None
    ratio: Annotated[float | None, about("simulated over measured")] = None


class CalibrationRow(Part):
    """A measured layer on all runtimes of the profile, as calibration reads it."""

    network: Annotated[str, about("its network")]
    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    profile: Annotated[str, about("the performance profile")]
    layer: Annotated[str, about("its name")]
    index: Annotated[int, about("its number, counted from the inputs")]
    type: Annotated[str, about("its type")]
    output_nchw: Annotated[str, about("the shape of its output")]
    dsp_us: Annotated[Microseconds | None, about("on the DSP")] = None
    dsp_min_us: Annotated[Microseconds | None, about("the shortest; the mean if unknown")] = None
    dsp_max_us: Annotated[Microseconds | None, about("the longest; the mean if unknown")] = None
    cpu_us: Annotated[Microseconds | None, about("on the CPU")] = None
    gpu_us: Annotated[Microseconds | None, about("on the GPU")] = None
    dsp_tf8_buffers_us: Annotated[
        Microseconds | None, about("on the DSP, with buffers of quantised values")
    ] = None
    source: Annotated[str, about("the file, and its format")]


class PhoneComparison(Document):
    """A phone's profile beside the simulation; classes and totals add up what both have."""

    WRITTEN_BY: ClassVar[str] = "hexsim compare --measured"
    ROW: ClassVar[type[Part] | None] = PhoneRow

    network: Annotated[str, about("its name")]
    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    runtime: Annotated[Runtime, about("the runtime")]
    anchor: Annotated[str | None, about("what the times were calibrated with")] = None
    anchor_error: Annotated[AnchorError | None, about("how wrong it may be")] = None
    anchor_classes: Annotated[Any, about("factors of classes of layers")] = None
    perf_profile: Annotated[str, about("the performance profile")]
    format: Annotated[str, about("the tool that wrote the profile")]
    remark: Annotated[str, about("what was computed when the profile was read")] = ""
    layers: Annotated[tuple[LayerPair, ...], about("layers of both sides")]
    classes: Annotated[tuple[Pair, ...], about("classes of layers, the slowest first")]
    totals: Annotated[tuple[Pair, ...], about("totals that both sides have")]
    only_measured: Annotated[tuple[MeasuredOnly, ...], about("layers of the phone alone")] = ()
    only_simulated: Annotated[tuple[SimulatedOnly, ...], about("of the simulation alone")] = ()
    software: Annotated[str, about("the stack with the changes made to it")] = ""
    findings: Annotated[tuple[Loss, ...], about("what is lost for certain")] = ()
    calibration: Annotated[
        tuple[CalibrationRow, ...], about("the layers for calibration", stored=False)
    ] = ()

    @property
    def title(self) -> str:
        """Network, place and both times."""
        both = self.totals[0]
        times = f"{figure(both.measured_us)} us, {figure(both.simulated_us)} us as simulated"
        return f"{self.network} on {self.chip} {self.runtime}: {times}"

    @property
    def rows(self) -> tuple[PhoneRow, ...]:
        """Layers, classes, totals, and layers of one side only."""
        layers = (
            _row("layer", pair, pair.layer_class, pair.type, shape_text(pair.output_nchw))
            for pair in self.layers
        )
        measured = (
            taken(PhoneRow, row, kind="only measured", name=row.name or row.id)
            for row in self.only_measured
        )
        simulated = (taken(PhoneRow, row, kind="only simulated") for row in self.only_simulated)
        sums = [_row("class", pair) for pair in self.classes]
        sums += [_row("total", pair) for pair in self.totals]
        return (*layers, *sums, *measured, *simulated)


def _row(kind: str, pair: Pair, *of_layer: str) -> PhoneRow:
    named = dict(zip(("row_class", "type", "output_nchw"), of_layer, strict=False))
    return taken(PhoneRow, pair, **{"type": None, "output_nchw": None, **named, "kind": kind})


def shape_text(shape: Shape) -> str:
    """Return `1x3x224x224`."""
    return "x".join(map(str, shape))
