"""The outputs of `hexsim quantize`: the file, its report, and lines on stderr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._files import OUTPUT, Writes
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._say import is_logged, log, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hexsim.dlc import Metadata
    from hexsim.inputs.source import InputSource
    from hexsim.quantization.evidence import Loss
    from hexsim.quantization.model import Model
    from hexsim.quantization.optimizations import Optimized
    from hexsim.results.quantization import Score


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
