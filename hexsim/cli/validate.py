"""`hexsim validate` compares a runtime with float, and shows the layers with errors."""

from __future__ import annotations

from typing import Annotated

from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import (
    FloatModelOption,
    HtaOption,
    ModelArgument,
    OverrideParamsOption,
    ThreadsOption,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import RuntimeOnChip, Shapes, SharedOut
from hexsim.records import dataclass


@dataclass(frozen=True)
class Compared(Shapes):
    """Options to read a model, to quantise it if it is float, and to choose its reference."""

    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    hta: HtaOption = True
    threads: ThreadsOption = 0
    sensitivity: Annotated[bool, "Rank layers by quantising one at a time."] = False
    explain: Annotated[bool, "Show why the worst layers lose accuracy, and what would help."] = (
        False
    )


EXAMPLES = {"validate": ("hexsim validate model.onnx --images pictures --labels labels.txt",)}


@paged
@grouped
def validate(
    *,
    model: ModelArgument,
    inputs: LabelledInputs,
    runs_on: RuntimeOnChip,
    compared: Compared,
    layers: Annotated[bool, "All layers in network order, not the worst ten."] = False,
    shared_out: SharedOut,
    outputs: JsonCsvHtml,
) -> None:
    """Compare a runtime with float: top-1, top-5, and the error of every layer."""
    from hexsim.api import validate as api
    from hexsim.cli._system import keep_large_arrays
    from hexsim.reports.validation import validation_text

    sharing = shared_out.keywords()
    if set(sharing.values()) == {None}:
        keep_large_arrays()
    answer = api.validate(
        model,
        counted=outputs.json is not None or outputs.html is not None,
        **runs_on.keywords(),
        **inputs.keywords(),
        **compared.keywords(),
        **sharing,
    )
    outputs.write(answer)
    say(validation_text(answer, every_layer=layers))
