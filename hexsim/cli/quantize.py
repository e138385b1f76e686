"""`hexsim quantize` quantises a float .dlc file with calibration inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._files import INPUT_LIST, MODEL, OUTPUT, Writes
from hexsim.cli._inputs import Inputs
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._quantizer_options import Bits, HtaSections, Ranges, quantization_options
from hexsim.cli._say import log, say
from hexsim.cli._signature import Command, grouped, option
from hexsim.errors import HexsimError, either, spelled
from hexsim.records import dataclass, fields, replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hexsim.dlc import Container, Metadata
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource
    from hexsim.reports.quantizer_log import LogLine
    from hexsim.studies.quantization import Quantized


EXAMPLES = {"quantize": ("hexsim quantize model.dlc --images pictures --mean 127.5 --std 127.5",)}


def _target(values: Mapping[str, Any]) -> Path:
    return beside_model(values, f"{Path(values['model']).stem}_quantized.dlc")


@dataclass(frozen=True)
class QuantizedFile(Outputs):
    """The quantised file, and a report about its encodings."""

    output: Annotated[
        Path | None, "File to write; default: MODEL_quantized.dlc.", Writes(_target)
    ] = None
    encodings_report: Annotated[
        Path | None,
        "Write the source of each encoding and the outcome of each override as JSON.",
        OUTPUT,
    ] = None

    def store(self, done: Quantized, metadata: Metadata) -> None:
        """Write file and report."""
        from hexsim import dlc
        from hexsim.results.quantization import quantization_of

        assert self.output is not None
        self.write(encodings_report=lambda: quantization_of(done.model, done.score).to_json())
        dlc.write(self.output, done.model, metadata)


@dataclass(frozen=True)
class CalibrationInputs(Inputs):
    """The inputs for the calibration of activations; a file with all encodings needs none."""

    input_list: Annotated[Path | None, "Text file that names raw inputs.", INPUT_LIST] = None
    seeded_inputs: Annotated[
        bool, "Calibrate on random inputs: sizes and times are right, answers mean nothing."
    ] = False

    def some_for(self, model: str, missing: str) -> bool:
        """Return whether inputs are named or random ones requested.

        Raises HexsimError for both, and for neither with a built-in network: it has no encodings.
        `missing` is the sentence for neither.
        """
        from hexsim import models

        self.require_one_kind()
        if self.has_inputs and self.seeded_inputs:
            raise HexsimError(
                f"inputs are named, and {spelled('seeded_inputs')} are others; leave one out"
            )
        if not (self.has_inputs or self.seeded_inputs) and models.is_name(model):
            raise HexsimError(missing.format("", ""))
        return self.has_inputs or self.seeded_inputs

    def whole(self, network: Network) -> InputSource:
        """Return the inputs of `network`: all that are named, else seeded ones."""
        from hexsim.inputs.source import seeded_source

        return seeded_source(network) if self.seeded_inputs else super().whole(network)


Show = Callable[["Quantized", Path, float], None]
"""Prints what was written to a file, which took some seconds."""
_INPUTS = ("input_list", "images", "seeded_inputs")


def quantizer(show: Show, inputs_taken: Sequence[str] = _INPUTS, *, snpe: bool) -> Command:
    """Return the command, which names its inputs by these options.

    A tool of SNPE judges nothing, prepares no graph, and only warns if there are no overrides.
    """

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
            "cle: equalise weights across layers first; bc: correct biases afterwards, "
            "only with cle. Repeat the option or write cle,bc.",
        ] = None,
        hta: HtaSections,
    ) -> None:
        """Quantise a network, calibrating activations on raw inputs or pictures."""
        missing = f"inputs to calibrate on are missing{{}}; give {either(*inputs_taken)}{{}}"
        named = inputs.some_for(model, missing)  # before imports that take long
        from hexsim.dlc.loading import load_container
        from hexsim.quantization.model import require_float
        from hexsim.quantization.optimizations import parse_optimizations
        from hexsim.studies.quantization import Quantized, Rules, quantized

        started = perf_counter()
        platform, steps = hta.platform(), parse_optimizations(optimizations or ())
        options = quantization_options(ranges, bits, hta.minimum_range(platform))
        read = load_container(model)
        network = require_float(read.model)
        asked = _if_held(bits, read, model) if snpe else bits.override_params
        judged, prepared = not snpe, not snpe and hta.chip is not None
        orders = hta.orders(read.model)
        rules = Rules(options, steps, asked, orders, inputs.part, judged, prepared)
        given = inputs.whole(network) if named else None
        done = quantized(read, model, platform, rules, given)
        if not isinstance(done, Quantized):
            more = f" and {len(done) - 1} more" if len(done) > 1 else ""
            which = f", as the file has no encoding of '{done[0]}'{more}" if done else ""
            way = f", or {spelled('override_params')} if the encodings in the file are enough"
            raise HexsimError(missing.format(which, way if read.overrides and not asked else ""))
        command = _command(model, steps, inputs, bits, ranges, hta)
        outputs.store(done, replace(read.metadata, quantizer_command=command))
        assert outputs.output is not None
        show(done, outputs.output, perf_counter() - started)

    return quantize


def _if_held(bits: Bits, read: Container, model: str) -> bool | None:
    """Return whether overrides are asked for; warn if there are none to apply."""
    if not bits.override_params or read.overrides or read.metadata.had_overrides:
        return bits.override_params
    log(
        "WARNING",
        f"{spelled('override_params')} changes nothing: '{model}' holds no overrides; convert the "
        f"model with {spelled('quantization_overrides')}",
    )
    return None


def print_log(*parts: Iterable[LogLine]) -> None:
    """Print lines of a log on stderr."""
    for part in parts:
        for level, text in part:
            log(level, text)


def _show(done: Quantized, file: Path, seconds: float) -> None:
    """Print the log, then what was written and how right it is."""
    from hexsim.reports.quantizer_log import (
        bytes_warning,
        hta_log,
        picture_text,
        prepared_text,
        quantized_log,
        score_text,
        written_text,
    )

    print_log(quantized_log(done), hta_log(done))
    say(f"{written_text(done, file)}; took {seconds:.1f} s here")
    if done.calibration is not None and (steps := done.calibration.pictures) is not None:
        say(picture_text(steps, done.model))
        print_log(bytes_warning(steps, done.floats))
    for text in filter(None, (score_text(done.score), prepared_text(done))):
        say(text)


quantize = quantizer(_show, snpe=False)


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
