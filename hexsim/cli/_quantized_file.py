"""The outputs of `hexsim quantize`: the file, its report, its score, and lines on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.errors import HexsimError
from hexsim.runtimes import preferred

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource
    from hexsim.inputs.split import Part
    from hexsim.quantization.model import Model


from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._files import OUTPUT, Writes
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._say import is_logged, remark, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hexsim.datasheets.stacks import Stack
    from hexsim.dlc import Metadata
    from hexsim.inputs.source import InputSource
    from hexsim.quantization.evidence import Finding
    from hexsim.quantization.model import Model
    from hexsim.quantization.optimizations import Optimized


def score(
    floats: Network, coded: Model, given: InputSource, part: Part | None, platform: Platform
) -> str:
    """Return the SQNR of the outputs as `hexsim validate --float` prints it, or why there is none.

    `floats` is the network that became `coded`, calibrated on `part` of the inputs `given`; seeded
    ones tell nothing. The runtime is the tensor processor if the platform has one, else the DSP.
    """
    from hexsim.accuracy.agreement import Agreements
    from hexsim.accuracy.output_errors import each_output, sqnr_text
    from hexsim.accuracy.reference import with_reference
    from hexsim.deployment import deploy
    from hexsim.inputs.split import part_of

    if given.seeded:
        return ""
    if part != "calibrate":
        return (
            "all these inputs calibrated, so none judges: with --part calibrate the others of them "
            "do; or give others to hexsim validate --float"
        )
    judging, runtime = part_of(given, "judge"), preferred(platform.runtimes)
    where = f"{runtime} of {platform.chip.name}"
    try:
        deployment = deploy(with_reference(coded, floats), platform, runtime)
    except HexsimError as error:
        return f"no SQNR of the outputs on {where}: {error}"
    references = Agreements(deployment.network, judging.feeds, judging.items)
    agreed = references.of(deployment)
    db = sqnr_text(agreed.outputs)
    text = f"SQNR of the outputs: {db} on {where}, over {judging.description}"
    return "\n  ".join(filter(None, (text, each_output(agreed.outputs))))


def _target(given: Mapping[str, Any]) -> Path:
    return beside_model(given, f"{Path(given['model']).stem}_quantized.dlc")


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
            "--encodings-report",
            help="Write the source of each encoding and the outcome of each override as JSON.",
        ),
        OUTPUT,
    ] = None

    def store(self, model: Model, metadata: Metadata) -> None:
        """Write file and report."""
        from hexsim import dlc
        from hexsim.reports.network.encodings import encodings_facts

        assert self.output is not None
        self.write(encodings_report=lambda: encodings_facts.json(model))
        dlc.write(self.output, model, metadata)

    def log(
        self,
        done: Optimized,
        failures: Sequence[str],
        release: Stack,
        slower: Sequence[Finding],
    ) -> None:
        """Print on stderr what was done as in `release`, and what is lost.

        `failures` are the sections that did not compile, `slower` those that cost time.
        The line of each encoding is printed under the names of SNPE's tools only.
        """
        from hexsim.reports.network.quantizer_log import (
            findings_log,
            hta_log,
            optimization_log,
            override_log,
            quantizer_log,
        )

        assert self.output is not None
        model = done.model
        minimum = f"{release.quantization.min_range:g} (stack {release.name})"
        before = (
            *optimization_log(done),
            *override_log(model),
            *findings_log((*slower, *model.findings)),
            f"[INFO] minimum range of an encoding: {minimum}",
        )
        encodings = quantizer_log(model, self.output) if is_logged() else ()
        for line in (*before, *encodings, *hta_log(model, failures)):
            remark(line)

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
