"""What the quantiser logs: encodings, overrides, optimisations, HTA sections and findings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from hexsim.errors import spelled
from hexsim.graph.ir import Network
from hexsim.graph.network_ends import PictureSteps
from hexsim.layers import Pad
from hexsim.planning.sections import hta_sections
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.equalization import Equalization
from hexsim.quantization.evidence import sentences
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import Correction, Optimized
from hexsim.quantization.overrides import OverrideUse, is_overridden
from hexsim.reports.inference import prepared_lines
from hexsim.reports.text import number
from hexsim.results.accuracy import each_output, sqnr_text
from hexsim.results.quantization import Score
from hexsim.studies.quantization import Quantized
from hexsim.texts.figures import size

Level = Literal["INFO", "WARNING", "ERROR"]
LogLine = tuple[Level, str]
"""A line of a log with its level, which each program shows in its own way."""


def quantized_log(done: Quantized) -> Iterator[LogLine]:
    """Yield what was done to the network of a file, and what is lost."""
    yield from _unapplied(done)
    yield from optimization_log(done.done)
    yield from override_log(done.model)
    for sentence in sentences((*done.slower, *done.model.findings)):
        yield "WARNING", sentence
    least, stack = done.rules.options.minimum_range, done.platform.stack
    own = f" (stack {stack.name})" if least == stack.quantization.min_range else ""
    yield "INFO", f"minimum range of an encoding: {least:g}{own}"


def _unapplied(done: Quantized) -> Iterator[LogLine]:
    """Yield a line if the file holds overrides that are not applied, or none to apply."""
    asked = done.rules.override_params
    if asked and not done.applied:
        yield (
            "WARNING",
            f"the overrides that '{Path(done.source).name}' was converted with are empty; all is "
            "calibrated",
        )
    elif done.unused and asked is None:
        option = spelled("override_params", True)
        yield "WARNING", f"the file holds {done.unused} overrides; give {option} to use them"
    elif done.unused:
        yield "INFO", f"{OverrideUse(done.unused)}"


def written_text(done: Quantized, file: Path) -> str:
    """Return the file that was written, and what calibrated it."""
    layers = number(len(done.model.network.layers), "layer")
    weights = f"{size(done.model.weight_bytes)} of weights"
    how = "with the encodings of its file, which leave nothing to calibrate"
    if (source := done.calibration) is not None:
        kind = "seeded input" if source.seeded else "input"
        how = f"calibrated on {number(source.items, kind)}"
    return f"wrote {file}: {layers}, {weights}, {how}"


def prepared_text(done: Quantized) -> str:
    """Return what preparing the graph for a tensor processor takes, if the chip has one."""
    if done.prepared is None:
        return ""
    return f"prepared for htp of {done.platform.chip.name}:\n{prepared_lines(done.prepared)}"


def score_text(score: Score | None) -> str:
    """Return how right the outputs are, or why nothing says so; nothing for seeded inputs."""
    if score is None:
        return ""
    if score.inputs is None:
        return (
            f"all these inputs calibrated, so none judges: with {spelled('part', 'calibrate')} the "
            f"others of them do; or give others to hexsim validate, with {spelled('float_model')}"
        )
    where = f"{score.runtime} of {score.chip}"
    if score.refusal is not None:
        return f"no SQNR of the outputs on {where}: {score.refusal}"
    text = f"SQNR of the outputs: {sqnr_text(score.outputs)} on {where}, over {score.inputs}"
    return "\n  ".join(filter(None, (text, each_output(score.outputs))))


def picture_text(steps: PictureSteps, model: Model) -> str:
    """Return how pictures became inputs, and the ranges that these got."""
    ranges = [
        f"'{name}' {encoding.min:.4g} .. {encoding.max:.4g}"
        for name in model.network.inputs
        if isinstance(encoding := model.activations.get(name), Encoding)
    ]
    inputs = f"; calibrated: {', '.join(ranges)}" if ranges else ""
    return f"pictures became inputs with {steps}{inputs}"


def bytes_warning(steps: PictureSteps, network: Network) -> Iterator[LogLine]:
    """Yield a warning if bytes meet the weights of a network as they are, from 0 to 255.

    Nothing if they are scaled, by `steps` or by a layer of the network before the first with
    weights.
    """
    if any(steps.mean) or steps.mean_image is not None or {*steps.std} != {1.0}:
        return
    names = {*network.inputs}
    for layer in network.layers:
        if not names & {*layer.inputs}:
            continue
        if not (layer.moves_codes or isinstance(layer, Pad)):
            break
        names.update(layer.outputs)
    else:
        return
    if not network.macs(layer):
        return
    yield (
        "WARNING",
        f"pictures are bytes, 0 to 255, for '{layer.name}'; most networks were trained "
        f"on scaled ones: give {spelled('std', 255)}, or {spelled('mean', 127.5)} and "
        f"{spelled('std', 127.5)}, or what its training took",
    )


def quantizer_log(model: Model, written: Path) -> Iterator[LogLine]:
    """Yield the log of quantising `model` and writing it to `written`.

    Two lines per tensor: inputs first, then layer by layer. Offsets are 0 or less. The numbers of
    an override are printed as float32, in which a .dlc file of SNPE keeps them. The intermediate
    model of the log exists only in memory here.
    """
    yield "INFO", "InitializeStderr: DebugLog initialized."
    yield "INFO", "Writing intermediate model"
    network = model.network
    buffers = [(name, name) for name in network.inputs]
    buffers += [(layer.name, output) for layer in network.layers for output in layer.outputs]
    for layer_name, tensor in buffers:
        encoding = model.activations.get(tensor)
        if encoding is not None and is_overridden(model.origins.get(tensor)):
            encoding = encoding.as_float32()
        if tensor in model.floats:
            yield "INFO", f"Setting activation for layer: {layer_name} and buffer: {tensor}"
            yield "INFO", f"bw: {model.floats[tensor]}, float"
        if encoding is not None:
            yield "INFO", f"Setting activation for layer: {layer_name} and buffer: {tensor}"
            yield (
                "INFO",
                f"bw: {encoding.bitwidth}, min: {encoding.min:f}, max: {encoding.max:f}, "
                f"delta: {encoding.delta:f}, offset: {encoding.offset:f}",
            )
    yield "INFO", f"Writing quantized model to: {written}"
    yield "INFO", "DebugLog shutting down."


def hta_log(done: Quantized) -> Iterator[LogLine]:
    """Yield a line per section, and one per chip for which there is none."""
    for section in hta_sections(done.model):
        yield (
            "INFO",
            f"Compiled HTA section for {section.chip}: layer ids {section.ids}, "
            f"{section.mac_share:.1%} of the MACs",
        )
    for failure in done.failures:
        yield "ERROR", f"{failure}; the .dlc has no HTA section for that chip and aip runs on HVX"


def optimization_log(optimized: Optimized) -> Iterator[LogLine]:
    """Yield lines on cross-layer equalization and on bias correction, none if neither ran."""
    if optimized.equalization is not None:
        yield from _equalization(optimized.equalization)
    if optimized.corrections:
        yield _correction(optimized.corrections)


def _equalization(equalization: Equalization) -> Iterator[LogLine]:
    yield (
        "INFO",
        f"Cross-layer equalization: chains found: {len(equalization.chains)}, "
        f"convolutions skipped: {len(equalization.skipped)}.",
    )
    for equalized in equalization.chains:
        yield (
            "INFO",
            f"Equalized {' - '.join(equalized.chain.layers)}: channels multiplied by "
            f"{equalized.smallest:.3g} to {equalized.largest:.3g}; ends at "
            f"'{equalized.chain.layers[-1]}' because {equalized.chain.end}.",
        )
    for chain in equalization.skipped:
        yield "INFO", f"Skipped '{chain.layers[0]}': {chain.end}."
    if equalization.without_relu6:
        yield (
            "WARNING",
            "Relu6 became Relu, which changes the network where values exceed 6: "
            f"{_names(equalization.without_relu6)}.",
        )
    for absorbed in equalization.absorptions:
        yield (
            "INFO",
            f"High biases of '{absorbed.giver}' absorbed by '{absorbed.taker}': "
            f"{absorbed.channels} channels, at most {absorbed.largest:.3g}.",
        )
    for giver, taker in equalization.padded:
        yield (
            "INFO",
            f"High biases of '{giver}' stay where they are: '{taker}' pads its input with "
            "zeros, and would miss them at the border.",
        )
    if equalization.without_moments:
        yield "WARNING", "Invalid model for HBA quantization algorithm."
        yield (
            "WARNING",
            "That is: high biases stay where they are, as the model has no batch norm "
            f"whose beta and gamma would tell which are high: "
            f"{_names(equalization.without_moments)}. Equalization itself was done.",
        )


def _correction(corrections: Sequence[Correction]) -> LogLine:
    largest = max(corrections, key=lambda correction: correction.steps)
    return (
        "INFO",
        f"Bias correction: {len(corrections)} layers, at most {largest.largest:.3g} "
        f"({largest.steps:.3g} steps of the output, in '{largest.layer}').",
    )


def _names(layers: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in layers)


def override_log(model: Model) -> Iterator[LogLine]:
    """Yield a line per key, in the order of its file, and a summary; nothing without keys."""
    for override in model.overrides:
        level: Level = "INFO" if override.outcome == "applied" else "WARNING"
        reason = f": {override.reason}" if override.reason else ""
        key = f"{override.source} of {override.section} '{override.key}'"
        yield level, f"{key} {override.outcome}{reason}"
    if model.overrides:
        counts = Counter(override.outcome for override in model.overrides)
        yield (
            "INFO",
            f"Overrides: {counts['applied']} applied, {counts['ignored']} ignored, "
            f"{counts['unmatched']} unmatched",
        )
        origins = Counter(_without_name(origin) for origin in model.origins.values())
        parts = (f"{count} {origin}" for origin, count in origins.most_common())
        yield "INFO", f"Encodings: {', '.join(parts)}"


def _without_name(origin: str) -> str:
    if origin.startswith("as layer '"):
        return "float as their layer is"
    return "that of a layer's input" if origin.startswith("that of '") else origin
