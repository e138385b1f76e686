"""Quantising the network of a file: what `hexsim quantize` and the tools of SNPE do.

It is calibrated, corrected, compiled for tensor engines, and judged by inputs that did not
calibrate it.
"""

from hexsim.accuracy.agreement import Agreements
from hexsim.accuracy.input_ranges import InputRanges, unsuitable
from hexsim.accuracy.reference import with_reference
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.at_load import without_noise
from hexsim.deployment.findings import slower
from hexsim.deployment.offline_hta import CompileOrder, compile_all
from hexsim.deployment.platform import Platform
from hexsim.deployment.prepared_graph import prepared_graph, with_graph
from hexsim.dlc import Container
from hexsim.dlc.loading import applied_overrides
from hexsim.errors import HexsimError, warn_caller
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import Network
from hexsim.inputs.source import InputSource, Part, part_of
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
from hexsim.quantization.overrides import Overrides
from hexsim.records import dataclass, replace
from hexsim.results.quantization import Score
from hexsim.runtimes import preferred


@dataclass(frozen=True)
class Rules:
    """How a network is quantised, and for which tensor engines sections are compiled.

    `part` of the inputs calibrates. If `judged`, the others judge it; if `prepared`, its graph is
    prepared for the tensor processor of the platform.
    """

    options: QuantizationOptions
    optimizations: tuple[Optimization, ...] = ()
    override_params: bool | None = None
    orders: tuple[CompileOrder, ...] = ()
    part: Part | None = None
    judged: bool = True
    prepared: bool = True


@dataclass(frozen=True)
class Quantized:
    """A network that was quantised for a file, what calibrated it, and what was done.

    `applied` and `unused` are the numbers of overrides of the file that were and were not applied.
    `failures` are the sections that did not compile, `slower` those that cost time.
    """

    source: str
    floats: Network
    platform: Platform
    rules: Rules
    done: Optimized
    calibration: InputSource | None
    applied: int
    unused: int
    failures: tuple[str, ...]
    slower: tuple[Loss, ...]
    prepared: PreparedGraph | None = None
    score: Score | None = None

    @property
    def model(self) -> Model:
        """The quantised network."""
        return self.done.model


def quantized(
    read: Container, source: str, platform: Platform, rules: Rules, inputs: InputSource | None
) -> Quantized | tuple[str, ...]:
    """Quantise the float network that was `read` from `source`.

    Without inputs, its encodings must leave nothing to calibrate; otherwise the result is the
    tensors that need some, none if there are no encodings at all.
    """
    network = require_float(read.model)
    overrides = applied_overrides(read, source, override_params=rules.override_params)
    calibration = part_of(inputs, rules.part) if inputs and rules.part else inputs
    if calibration is None:
        coded = quantize_coded(network, rules.options, rules.optimizations, overrides)
        if not isinstance(coded, Optimized):
            return coded
        done = coded
    else:
        done = _calibrated(read.model, rules, calibration, overrides)
    if (batch := batch_size(network)) > 1:
        warn_caller(
            f"a batch of {batch} is quantised; SNPE's guide allows 1 only, and another one when "
            "the network runs: convert with a batch of 1 for a device"
        )
    for sentence in done.model.notes:
        warn_caller(sentence)
    model, failures = compile_all(done.model, rules.orders)
    prepared = score = None
    if rules.prepared and "htp" in platform.runtimes:
        deployment = Deployment(model, platform, "htp")
        prepared = prepared_graph(deployment.plan, deployment.memory(), platform.stack)
        model = model if prepared is None else with_graph(model, deployment)
    if rules.judged and inputs is not None:
        score = score_of(network, model, inputs, rules.part, platform)
    return Quantized(
        *(source, network, platform, rules, replace(done, model=model), calibration),
        *(len(overrides), len(read.overrides) - len(overrides), failures),
        *(tuple(slower(model, rules.orders)), prepared, score),
    )


def _calibrated(
    model: Model, rules: Rules, calibration: InputSource, overrides: Overrides
) -> Optimized:
    network = model.network
    if calibration.pictures is not None:
        network = set_pictures(network, calibration.pictures)
    if not calibration.seeded:
        for sentence in unsuitable(InputRanges.of(model, overrides), calibration):
            warn_caller(sentence)
    feeds, steps = calibration.feeds, rules.optimizations
    done = quantize_optimized(network, feeds, rules.options, steps, overrides, calibration.sets)
    return replace(done, model=without_noise(done.model)) if calibration.seeded else done


def score_of(
    floats: Network, coded: Model, source: InputSource, part: Part | None, platform: Platform
) -> Score | None:
    """Return the error of the outputs as `hexsim.validate` computes it.

    `floats` is the network that became `coded`, calibrated on `part` of the inputs `source`; seeded
    ones tell nothing. The runtime is the tensor processor if the platform has one, else the DSP.
    Without inputs that judge, and on a runtime that refuses the model, the score has no outputs.
    """
    if source.seeded:
        return None
    runtime, chip = preferred(platform.runtimes), platform.chip.name
    if part != "calibrate":
        return Score(chip=chip, runtime=runtime)
    judging = part_of(source, "judge")
    try:
        deployment = deploy(with_reference(coded, floats), platform, runtime)
    except HexsimError as error:
        refusal = str(error)
        return Score(chip=chip, runtime=runtime, inputs=judging.description, refusal=refusal)
    references = Agreements(deployment.network, judging.feeds, judging.items)
    outputs = references.of(deployment).outputs
    return Score(chip=chip, runtime=runtime, inputs=judging.description, outputs=outputs)
