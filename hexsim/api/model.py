"""The Python API: functions to load, quantise and simulate models.

    model = hexsim.load("m.onnx")
    q = hexsim.quantize(model, inputs)
    r = hexsim.simulate(q, chip="sd835", runtime="dsp", inputs=x)
    r.outputs, r.total_us, r.layers, r.timeline

`run` computes many inputs without simulating time. `save` and `load` write and read files.

Arrays that come from or go to the caller are in the ONNX file's own axis order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Unpack

from hexsim import __version__, dlc
from hexsim.accuracy.input_ranges import InputRanges
from hexsim.api.parameters import source_name, warn_of
from hexsim.deployment import AtLoad, Deployment, deploy
from hexsim.deployment.at_load import without_noise
from hexsim.deployment.findings import slower, slower_sections
from hexsim.deployment.offline_hta import orders, with_hta
from hexsim.deployment.platform import Platform
from hexsim.deployment.prepared_graph import prepared_graph, with_graph
from hexsim.deployment.source_model import Preparation, SourceModel, runtime_on
from hexsim.dlc.loading import load, load_container
from hexsim.energy import Energy
from hexsim.errors import HexsimError, unknown, warn_caller
from hexsim.execution.net_run import wanted
from hexsim.graph.ir import FloatArray
from hexsim.inputs.input_sets import Arrays, InputSets, Pictures, Sets, sets_of, stored_arrays
from hexsim.inputs.seeded import recognises_pictures
from hexsim.inputs.source import Feed, seeded_source
from hexsim.inputs.stored import file_output
from hexsim.passes.network_inputs import set_pictures
from hexsim.planning.plan import PreparedGraph
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.optimizations import (
    Optimization,
    Optimized,
    quantize_coded,
    quantize_optimized,
)
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, KeyOutcome, Overrides
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.quantization.overrides.targets import overrides_of_model
from hexsim.results.costs import Footprint
from hexsim.runtimes import DEFAULT_CHIP, Runtime, RuntimeChoice, placed
from hexsim.studies.conditions import Calling, Hardware, Idling, call_of, platforms_of
from hexsim.studies.remedies import remedied
from hexsim.texts.arguments import arguments_checked
from hexsim.texts.display import DisplayTable, LayerTimes, Shown
from hexsim.texts.figures import figure
from hexsim.timing.picoseconds import PS_PER_MS
from hexsim.timing.results import LayerTiming, Result, Timeline

Inputs = Arrays

_NOISE = (
    "hexsim.quantize got no inputs and calibrates on noise: sizes and times are right, answers "
    "mean nothing; give `inputs`, arrays as the network will see them"
)


class Outputs(dict[str, FloatArray]):
    """Arrays by the names of outputs; an unknown name raises HexsimError with the known ones."""

    def __missing__(self, name: str) -> FloatArray:
        raise unknown("output", name, self)


class Circumstances(Hardware, Idling, Calling, total=False):
    """The software of the chip, the settings of a call, and other clients of the phone."""


@dataclass(frozen=True, repr=False)
class Simulation(LayerTimes[LayerTiming], Shown):
    """The times of one simulated inference and, if inputs were given, its outputs.

    `network`, `chip`, `runtime` and `precision` (in words) say what ran where.
    `memory` has its use of memory, `memory.peak_bytes` at the peak. `energy.millijoules` is
    its energy, between `energy.low` and `energy.high`. `outputs` maps ONNX output names to float32
    arrays in the ONNX file's axis order; an output that is quantised in the file has quantised
    values of its type. `overrides` has the outcome of each override. `prepared` has estimates of
    preparing the graph of a tensor processor, None on other runtimes. `findings` are certain
    losses: of time by HTA sections, and, if inputs were given, of values by encodings.
    """

    network: str
    chip: str
    runtime: Runtime
    precision: str
    timing: Result
    memory: Footprint
    energy: Energy = field(repr=False)
    outputs: dict[str, FloatArray] | None
    overrides: tuple[KeyOutcome, ...] = ()
    prepared: PreparedGraph | None = None
    findings: tuple[Loss, ...] = ()

    @property
    def total_us(self) -> float:
        """Total inference time in microseconds."""
        return self.timing.total_us

    @property
    def total_ms(self) -> float:
        """Total inference time in milliseconds."""
        return self.total_us / 1e3

    @property
    def layers(self) -> tuple[LayerTiming, ...]:
        """Time and counters of each layer."""
        return self.timing.layers

    @property
    def timeline(self) -> Timeline:
        """All events, by track."""
        return self.timing.timeline

    def display_table(self) -> DisplayTable:
        """Return a table of layers with times and MACs, then overheads; shares are of the total."""
        total_us = self.total_us
        layers = (
            (
                layer.name,
                layer.type,
                layer.engine,
                layer.us,
                layer.us / total_us,
                layer.macs,
                layer.bound,
            )
            for layer in self.layers
        )
        overheads = (
            (overhead.name, "overhead", None, overhead.us, overhead.us / total_us, None, None)
            for overhead in self.timing.overheads
        )
        where = placed(self.network, self.runtime, self.chip, self.precision)
        return DisplayTable(
            f"{where}: {figure(total_us / 1e3)} ms for an inference of {len(self.layers)} layers, "
            f"initialisation {figure(self.timing.init_ps / PS_PER_MS)} ms",
            ("layer", "type", "engine", "us", "share", "MACs", "bound"),
            (*layers, *overheads),
            bars="us",
        )


@arguments_checked
def quantize(
    model: Model | str | Path,
    inputs: InputSets | None = None,
    options: QuantizationOptions | None = None,
    overrides: Overrides | None = None,
    optimizations: Sequence[Optimization] = (),
    *,
    images: Pictures | str | Path | None = None,
) -> Model:
    """Quantise a float model.

    `inputs` are calibration inputs, each an array (one input) or a mapping by input name, in ONNX
    axis order; one array of many items; the path of an input list or of a folder of pictures; or
    `hexsim.pictures`, whose steps the model then stores. `images` is another name for pictures.
    None takes seeded noise, with a warning, unless the encodings of the file or `overrides` leave
    nothing to calibrate. `optimizations` are "cle", cross-layer equalization, and "bc", bias
    correction, which needs "cle". `overrides` (see `read_overrides`) replace the choices of the
    quantiser; None takes the encodings of an ONNX file's own quantising nodes, and an empty
    `Overrides()` takes none at all. `Model.overrides` has their outcomes, and `Model.findings` the
    certain losses, which are warnings too. Raises HexsimError if `model` is quantised already, or
    if the overrides do not fit to it.
    """
    model = _loaded(model)
    network = require_float(model)
    applied = overrides_of_model(overrides, model.own_overrides, model.provenance)
    if images is not None and inputs is not None:
        raise HexsimError("images are inputs too; give one of both")
    inputs = images if inputs is None else inputs
    if inputs is None:
        coded = quantize_coded(network, options, optimizations, applied)
        if isinstance(coded, Optimized):
            warn_of((network.name, coded.model.findings))
            return coded.model
        if not recognises_pictures(network):
            warn_caller(_NOISE)
        ranges = InputRanges()
        feeds: Iterable[Mapping[str, FloatArray]] = seeded_source(network).feeds()
    else:
        ranges = InputRanges.of(model, applied)
        sets = sets_of(network, inputs)
        if isinstance(sets, Sets) and sets.pictures is not None:
            network = set_pictures(network, sets.pictures)
        feeds = ranges.over(sets)
    if "bc" in optimizations:
        feeds = list(feeds)
    quantized = quantize_optimized(network, lambda: feeds, options, optimizations, applied).model
    if inputs is None:
        quantized = without_noise(quantized)
    for sentence in ranges.sentences():
        warn_caller(sentence)
    warn_of((network.name, quantized.findings))
    return quantized


@arguments_checked
def compile_hta(
    model: Model | str | Path,
    chip: str | Path = DEFAULT_CHIP,
    partitions: str = "",
    *,
    stack: str | Path | None = None,
) -> Model:
    """Return `model` with sections for the tensor engine of `chip`, which `aip` then uses.

    `partitions` lists the sections by layer ids, as in "0-11,15-20", or for a named chip, as in
    "sm8250:0-20"; "" takes all that the rules of `stack` allow. Raises HexsimError, with the layer
    and the nearest legal cut, if a section breaks a rule, or if nothing can be compiled. A warning
    says so if an inference without sections would be faster.
    """
    (order,) = orders([partitions] if partitions else [], str(chip), stack)
    loaded = _loaded(model)
    if not loaded.quantized:
        raise HexsimError(
            f"model '{loaded.name}' is in floats, and the tensor engine computes in codes; "
            "quantise it first, with hexsim.quantize"
        )
    compiled = with_hta(loaded, order)
    warn_of((compiled.name, slower(compiled, [order])))
    return compiled


@arguments_checked
def prepare_graph(
    model: Model | str | Path,
    chip: str | Path,
    *,
    stack: str | Path | None = None,
    vtcm_mb: float | None = None,
) -> Model:
    """Return `model` with a record that its graph is prepared for the tensor processor of `chip`.

    Initialisation there, under this stack and with this VTCM, then loads the context binary; a file
    that `save` writes keeps the record. A float model is prepared in float16. Raises HexsimError if
    the chip has no tensor processor, or it refuses the model.
    """
    platform, model = Platform.load(chip, stack).with_vtcm(vtcm_mb), _loaded(model)
    at_load = AtLoad(model.network, platform, overrides=model.own_overrides)
    model = at_load.model if not model.quantized and at_load.coded else model
    return with_graph(model, deploy(model, platform, "htp" if model.quantized else "htp_fp16"))


@arguments_checked
def read_overrides(source: str | Path) -> Overrides:
    """Read overrides from an encodings file of AIMET (.json), or those that a model file holds.

    A .dlc file holds the overrides of its conversion, an ONNX file those of its quantising nodes.
    Raises HexsimError naming file, tensor and key of the first mistake.
    """
    if Path(source).suffix.lower() in (".json", ".encodings"):
        return read_aimet(source)
    return load_container(source).overrides


@arguments_checked
def simulate(
    model: Model | str | Path,
    chip: str | Path = DEFAULT_CHIP,
    runtime: RuntimeChoice = "auto",
    inputs: Inputs | None = None,
    *,
    cpu_fallback: bool = True,
    overrides: Overrides | None = None,
    **circumstances: Unpack[Circumstances],
) -> Simulation:
    """Simulate one inference of `model` on `runtime` of `chip`.

    "auto" is the runtime of a deployed network: the tensor processor, else the DSP, or aip for a
    file with sections. Without `inputs` only time is simulated and no weight is read. A float model
    is quantised for a runtime that computes in codes, with ranges of `inputs`: before it is loaded,
    or at load by dsp, which lengthens its initialisation; `overrides` (as for `quantize`) are then
    applied. If they, or the encodings of the file, give all ranges, the
    network is a quantised one, on every stack. `circumstances` are the fields of `Circumstances`:
    stack, ideal_cpu, anchor, vtcm_mb, idle_ms, power_collapse, perf_profile, buffer, background.
    Raises HexsimError, naming the cause, if the simulation is not possible.
    """
    (platform,) = platforms_of(chip, circumstances)
    calling = call_of(platform, circumstances)
    chosen, given = _given(model, platform, runtime, cpu_fallback, overrides)
    if inputs is None:
        deployment = given.deployment(chosen)
    else:
        feeds = [stored_arrays(given.model.network, inputs)]
        deployment, _ = _running(given, chosen, feeds)
    if deployment.graph_note is not None and deployment.plan.binary_bytes is None:
        warn_caller(deployment.graph_note)
    timing = remedied(deployment, deployment.simulate(**calling))
    memory = deployment.memory(calling.get("buffer"))
    energy = platform.energy(timing, calling.get("perf_profile"))
    outputs = None if inputs is None else next(_answers(deployment, feeds))
    of_values = () if inputs is None else deployment.findings
    findings = (*slower_sections(deployment, calling.get("perf_profile")), *of_values)
    warn_of((deployment.network.name, findings))
    prepared = prepared_graph(deployment.plan, memory, platform.stack)
    here = given.file_form(chosen) == "quantised here"
    overrides_used = deployment.model.overrides if here else deployment.overrides
    place = deployment.network.name, platform.chip.name, chosen, given.precision(deployment)
    return Simulation(*place, timing, memory, energy, outputs, overrides_used, prepared, findings)


@arguments_checked
def run(
    model: Model | str | Path,
    inputs: InputSets,
    chip: str | Path = DEFAULT_CHIP,
    runtime: RuntimeChoice = "auto",
    *,
    stack: str | Path | None = None,
    cpu_fallback: bool = True,
    overrides: Overrides | None = None,
    output_tensors: Sequence[str] = (),
) -> Iterator[dict[str, FloatArray]]:
    """Yield the outputs of `runtime` for each of `inputs`, in order; no time is simulated.

    The outputs equal those of `simulate`. Each is computed on request, so that any number of inputs
    fits in memory. `inputs` are of the kinds that `quantize` takes; unless they are an iterator,
    some inferences may run in parallel, a few ahead of the requests. `output_tensors` replace the
    network's outputs; the name of a layer stands for its outputs. For a runtime that computes in
    codes a float network is quantised with ranges of the first inputs: up to 100, but one of an
    iterator, which is read at once then.
    Raises HexsimError as `simulate` does; errors that do not concern an input are raised at once.
    """
    platform = Platform.load(chip, stack)
    chosen, given = _given(model, platform, runtime, cpu_fallback, overrides)
    deployment, feeds = _running(given, chosen, sets_of(given.model.network, inputs))
    if output_tensors:
        deployment = deployment.observing(
            wanted(deployment.network, (), output_tensors, every=False)
        )
    warn_of((deployment.network.name, deployment.findings))
    return _answers(deployment, feeds)


@arguments_checked
def save(model: Model | str | Path, path: str | Path, *, model_version: str = "N/A") -> None:
    """Write `model`, float or quantised, as a .dlc file, completely or not at all.

    The file of a float model stores the encodings of its ONNX file's nodes. Raises HexsimError if
    a weight is not finite, or the file cannot be written.
    """
    model = _loaded(model)
    metadata = dlc.Metadata(model_version=model_version, converter_version=__version__)
    applied = NO_OVERRIDES if model.quantized else model.own_overrides
    dlc.write(path, model, metadata, applied)


def _loaded(model: Model | str | Path) -> Model:
    """Return a model, or load its file or the built-in network."""
    return model if isinstance(model, Model) else load(model)


def _given(
    model: Model | str | Path,
    platform: Platform,
    runtime: RuntimeChoice,
    cpu_fallback: bool,
    overrides: Overrides | None,
) -> tuple[Runtime, SourceModel]:
    """Return the runtime, and the model as commands get it from a file."""
    model = _loaded(model)
    source, how = source_name(model), Preparation.of({"cpu_fallback": cpu_fallback})
    if overrides is not None:
        overrides = overrides_of_model(overrides, model.own_overrides, model.provenance)
    given = SourceModel(source, load_container(source), platform, how, overrides)
    return runtime_on(platform, runtime, source), given


def _running(
    given: SourceModel, runtime: Runtime, feeds: Iterable[Feed]
) -> tuple[Deployment, Iterable[Feed]]:
    """Return the deployment to run on sets of inputs, and these sets.

    An iterator is not read ahead, because its next input may depend on the last answer. So only
    its first input calibrates a network that is quantised for the runtime.
    """
    calibrating = feeds
    if not isinstance(feeds, Sequence) and given.calibrates(runtime):
        feeds = iter(feeds)
        calibrating = list(islice(feeds, 1))
        feeds = chain(calibrating, feeds)
    return given.running(runtime, lambda: iter(calibrating)), feeds


def _answers(deployment: Deployment, feeds: Iterable[Feed]) -> Iterator[dict[str, FloatArray]]:
    """Make the executor now, and compute each answer on request."""
    network, executor = deployment.network, deployment.executor()
    watched = _watched(InputRanges.on(deployment), feeds)
    in_memory = isinstance(feeds, Sequence)
    answers = executor.run_each(watched) if in_memory else map(executor.run, watched)
    return (
        Outputs({name: file_output(network, name, array) for name, array in answer.items()})
        for answer in answers
    )


def _watched(ranges: InputRanges, feeds: Iterable[Feed]) -> Iterator[Feed]:
    """Yield sets of inputs; warn once about those that do not suit the ranges of their codes."""
    warned = False
    for feed in feeds:
        if not warned:
            ranges.take(feed)
            for sentence in ranges.sentences():
                warn_caller(sentence)
                warned = True
        yield feed
