"""`hexsim quantize` quantises a float .dlc file with calibration inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._command import option
from hexsim.cli._files import INPUT_LIST, MODEL, OUTPUT, Writes
from hexsim.cli._inputs import Inputs, remark_unsuitable
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._quantizer_options import Bits, HtaSections, Ranges, quantization_options
from hexsim.cli._say import is_logged, log, say
from hexsim.cli._signature import grouped
from hexsim.errors import HexsimError, spelled
from hexsim.records import dataclass, fields, replace

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.dlc import Container, Metadata
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource
    from hexsim.quantization.evidence import Loss
    from hexsim.quantization.model import Model
    from hexsim.quantization.optimizations import Optimization, Optimized
    from hexsim.quantization.options import QuantizationOptions
    from hexsim.quantization.overrides import Overrides
    from hexsim.results.quantization import Score


EXAMPLES = {"quantize": ("hexsim quantize model.dlc --images pictures --mean 127.5 --std 127.5",)}


def _target(values: Mapping[str, Any]) -> Path:
    return beside_model(values, f"{Path(values['model']).stem}_quantized.dlc")


@dataclass(frozen=True)
class QuantizedFile(Outputs):
    """The quantised file, and a report about its encodings."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: MODEL_quantized.dlc."),
        Writes(_target),
    ] = None
    encodings_report: Annotated[
        Path | None,
        typer.Option(
            help="Write the source of each encoding and the outcome of each override as JSON."
        ),
        OUTPUT,
    ] = None

    def store(self, model: Model, metadata: Metadata, score: Score | None) -> None:
        """Write file and report."""
        from hexsim import dlc
        from hexsim.results.quantization import quantization_of

        assert self.output is not None
        self.write(encodings_report=lambda: quantization_of(model, score).to_json())
        dlc.write(self.output, model, metadata)

    def log(
        self,
        done: Optimized,
        failures: Sequence[str],
        minimum: str,
        slower: Sequence[Loss],
    ) -> None:
        """Print on stderr what was done, with the `minimum` range of an encoding, and what is lost.

        `failures` are the sections that did not compile, `slower` those that cost time.
        The line of each encoding is printed under the names of SNPE's tools only.
        """
        from hexsim.quantization.evidence import sentences
        from hexsim.reports.quantizer_log import (
            LogLine,
            hta_log,
            optimization_log,
            override_log,
            quantizer_log,
        )

        assert self.output is not None
        model = done.model
        before: tuple[LogLine, ...] = (
            *optimization_log(done),
            *override_log(model),
            *(("WARNING", sentence) for sentence in sentences((*slower, *model.findings))),
            ("INFO", f"minimum range of an encoding: {minimum}"),
        )
        encodings = quantizer_log(model, self.output) if is_logged() else ()
        for level, text in (*before, *encodings, *hta_log(model, failures)):
            log(level, text)

    def tell(self, model: Model, calibration: InputSource | None, seconds: float) -> None:
        """Print what was written and how long it took; SNPE's tools do not."""
        from hexsim.reports.text import number
        from hexsim.texts.figures import size

        if is_logged():
            return
        assert self.output is not None
        layers = number(len(model.network.layers), "layer")
        weights = f"{size(model.weight_bytes)} of weights"
        how = "with the encodings of its file, which leave nothing to calibrate"
        if calibration is not None:
            kind = "seeded input" if calibration.seeded else "input"
            how = f"calibrated on {number(calibration.items, kind)}"
        say(f"wrote {self.output}: {layers}, {weights}, {how}; took {seconds:.1f} s here")


@dataclass(frozen=True)
class CalibrationInputs(Inputs):
    """The inputs for the calibration of activations; a file with all encodings needs none."""

    input_list: Annotated[
        Path | None, typer.Option(help="Text file that names raw inputs."), INPUT_LIST
    ] = None
    seeded_inputs: Annotated[
        bool,
        typer.Option(
            "--seeded-inputs",
            help="Calibrate on random inputs: sizes and times are right, answers mean nothing.",
        ),
    ] = False

    def some_for(self, model: str) -> bool:
        """Return whether inputs are named or random ones requested.

        Raises HexsimError for both, and for neither with a built-in network: it has no encodings.
        """
        from hexsim import models

        self.require_one_kind()
        if self.has_inputs and self.seeded_inputs:
            raise HexsimError(
                f"inputs are named, and {spelled('seeded_inputs')} are others; leave one out"
            )
        if not (self.has_inputs or self.seeded_inputs) and models.is_name(model):
            raise _inputs_missing()
        return self.has_inputs or self.seeded_inputs

    def quantized(
        self,
        source: Container,
        calibration: InputSource | None,
        options: QuantizationOptions,
        steps: Sequence[Optimization],
        overrides: Overrides,
    ) -> Optimized:
        """Quantise the float network of a file on the inputs of `calibration`.

        Raises HexsimError if there are none, with the tensors that need some.
        """
        from hexsim.accuracy.input_ranges import InputRanges
        from hexsim.deployment.at_load import without_noise
        from hexsim.passes.network_inputs import set_pictures
        from hexsim.quantization.optimizations import quantize_coded, quantize_optimized

        network = source.model.network
        if calibration is not None:
            if calibration.pictures is not None:
                network = set_pictures(network, calibration.pictures)
            remark_unsuitable(calibration, InputRanges.of(source.model, overrides))
            feeds, count = calibration.feeds, calibration.sets
            on_inputs = quantize_optimized(network, feeds, options, steps, overrides, count)
            if self.seeded_inputs:
                return replace(on_inputs, model=without_noise(on_inputs.model))
            return on_inputs
        done = quantize_coded(network, options, steps, overrides)
        if not isinstance(done, tuple):
            return done
        more = f" and {len(done) - 1} more" if len(done) > 1 else ""
        which = f", as the file has no encoding of '{done[0]}'{more}" if done else ""
        unused = len(source.overrides) > len(overrides)
        way = (
            f", or {spelled('override_params')} if the encodings in the file are enough"
            if unused
            else ""
        )
        raise _inputs_missing(which, way)

    def whole(self, network: Network) -> InputSource:
        """Return the inputs of `network`: all that are named, else seeded ones."""
        from hexsim.inputs.source import seeded_source

        return seeded_source(network) if self.seeded_inputs else super().whole(network)


def _inputs_missing(which: str = "", way: str = "") -> HexsimError:
    """Return the error for a network that nothing calibrates."""
    if is_logged():
        return HexsimError(
            f"{spelled('input_list')} is missing{which}; give one to calibrate on{way}"
        )
    return HexsimError(
        f"hexsim quantize calibrates on inputs{which}; give an {spelled('input_list')}, a folder "
        "of "
        f"{spelled('images')}, or {spelled('seeded_inputs')}{way}"
    )


def _override_params(bits: Bits, source: Container, model: str) -> bool | None:
    """Return whether overrides are asked for; SNPE's tools only warn if there are none."""
    held = source.overrides or source.metadata.had_overrides
    if held or not (bits.override_params and is_logged()):
        return bits.override_params
    log(
        "WARNING",
        f"{spelled('override_params')} changes nothing: '{model}' holds no overrides; convert the "
        f"model with {spelled('quantization_overrides')}",
    )
    return None


@grouped
def quantize(
    *,
    model: Annotated[str, typer.Argument(help="Float .dlc file (or ONNX file)."), MODEL],
    inputs: CalibrationInputs,
    outputs: QuantizedFile,
    ranges: Ranges,
    bits: Bits,
    optimizations: Annotated[
        list[str] | None,
        typer.Option(
            help="cle: equalise weights across layers first; bc: correct biases afterwards, only "
            "with cle. Repeat the option or write cle,bc."
        ),
    ] = None,
    hta: HtaSections,
) -> None:
    """Quantise a network, calibrating activations on raw inputs or pictures."""
    named = inputs.some_for(model)  # before imports that take long
    from hexsim.deployment.findings import slower
    from hexsim.deployment.offline_hta import compile_all
    from hexsim.dlc.loading import applied_overrides, load_container
    from hexsim.graph.batches import batch_size
    from hexsim.inputs.source import part_of
    from hexsim.quantization.model import require_float
    from hexsim.quantization.optimizations import parse_optimizations
    from hexsim.reports.quantizer_log import score_text
    from hexsim.studies.quantization import score_of

    started = perf_counter()
    release = (platform := hta.platform()).stack
    options = quantization_options(ranges, bits, release.quantization.min_range)
    steps = parse_optimizations(optimizations or ())
    source = load_container(model)
    network = require_float(source.model)
    override_params = _override_params(bits, source, model)
    overrides = applied_overrides(source, model, override_params=override_params)
    orders = hta.orders(source.model)
    given = inputs.whole(network) if named else None
    calibration = part_of(given, inputs.part) if given and inputs.part else given
    result = inputs.quantized(source, calibration, options, steps, overrides)
    _warn_of_batch(batch_size(network))
    for note in result.model.notes:
        log("WARNING", note)
    compiled, failures = compile_all(result.model, orders)
    command = _command(model, steps, inputs, bits, ranges, hta)
    compiled, prepared = _prepared(compiled, platform)
    score = None
    if given is not None and not is_logged():
        score = score_of(network, compiled, given, inputs.part, platform)
    outputs.store(compiled, replace(source.metadata, quantizer_command=command), score)
    _tell_unapplied(source, overrides, Path(model).name, override_params)
    own = f" (stack {release.name})" if ranges.minimum_range is None else ""
    minimum = f"{options.minimum_range:g}{own}"
    outputs.log(replace(result, model=compiled), failures, minimum, slower(compiled, orders))
    outputs.tell(compiled, calibration, perf_counter() - started)
    _tell_pictures(inputs, network, compiled)
    for text in filter(None, (score_text(score), prepared)):
        say(text)


def _tell_pictures(inputs: CalibrationInputs, network: Network, model: Model) -> None:
    """Say how pictures became inputs, and warn of bytes that the first weights do not scale."""
    if inputs.images is None or is_logged():
        return
    from hexsim.reports.quantizer_log import bytes_warning, picture_text

    steps = inputs.preprocessing(network)
    say(picture_text(steps, model))
    if warning := bytes_warning(steps, network):
        log("WARNING", warning)


def _prepared(model: Model, platform: Platform) -> tuple[Model, str]:
    """Return the model prepared for the tensor processor of --chip, if it has one, and its cost."""
    from hexsim.deployment import Deployment
    from hexsim.deployment.prepared_graph import prepared_graph, with_graph
    from hexsim.reports.inference import prepared_lines

    if is_logged() or "htp" not in platform.runtimes:
        return model, ""
    deployment = Deployment(model, platform, "htp")
    prepared = prepared_graph(deployment.plan, deployment.memory(), platform.stack)
    if prepared is None:
        return model, ""
    lines = f"prepared for htp of {platform.chip.name}:\n{prepared_lines(prepared)}"
    return with_graph(model, deployment), lines


def _warn_of_batch(batch: int) -> None:
    if batch > 1:
        log(
            "WARNING",
            f"a batch of {batch} is quantised; SNPE's guide allows 1 only, and another "
            "one when the network runs: convert with a batch of 1 for a device",
        )


def _tell_unapplied(
    source: Container, overrides: Overrides, file: str, override_params: bool | None
) -> None:
    """Print a line if the file holds overrides that are not applied, or none to apply."""
    from hexsim.quantization.overrides import OverrideUse
    from hexsim.reports.quantizer_log import no_overrides_line, unused_line

    unused = len(source.overrides) - len(overrides)
    if override_params and not overrides:
        log("WARNING", no_overrides_line(file))
    elif unused and override_params is None:
        log("WARNING", unused_line(unused))
    elif unused:
        log("INFO", f"{OverrideUse(unused)}")


def _command(
    model: str,
    steps: Sequence[str],
    inputs: CalibrationInputs,
    bits: Bits,
    *groups: Ranges | HtaSections,
) -> str:
    """Return the command in the form of the file's metadata, with the options that are set.

    Files are without their folders.
    """
    words: dict[str, object] = {
        "images": inputs.images and inputs.images.name,
        "input_dlc": Path(model).name,
        "input_list": inputs.input_list and inputs.input_list.name,
        "optimizations": ",".join(steps),
        "part": inputs.part,
    }
    set_options: dict[str, object] = {}
    for group in (bits, *groups):
        defaults = {each.name: each.default for each in fields(group)}
        set_options |= {
            name: value for name, value in vars(group).items() if value != defaults[name]
        }
    set_options.pop("bitwidth", None)
    for name, value in {**set_options, **bits.widths()}.items():
        words[option(name)[2:].replace("-", "_")] = value
    return "hexsim quantize " + " ".join(
        f"{key}={' '.join(value) if isinstance(value, list) else value}"
        for key, value in sorted(words.items())
        if value
    )
