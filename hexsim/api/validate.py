"""`hexsim.validate`: a runtime compared with float, and the layers with errors."""

from contextlib import nullcontext
from pathlib import Path
from typing import Unpack

from hexsim.api.parameters import source_name, warn_of
from hexsim.deployment.source_model import runtime_on
from hexsim.errors import require_number, spelled
from hexsim.quantization.model import Model
from hexsim.results.validation import Validation
from hexsim.runtimes import DEFAULT_CHIP, RuntimeChoice
from hexsim.studies.conditions import Hardware, Reading, platforms_of
from hexsim.studies.judging import ComparedModel, Judging, calibrated_too, roles_of
from hexsim.studies.processes import Sharing, workers_of
from hexsim.studies.validation import Question, require_fixed_point, run_validation
from hexsim.texts.arguments import arguments_checked


class Comparing(Hardware, Reading, Judging, Sharing, total=False):
    """What is compared and by whom; the fields of `Judging`, `Reading` and `Hardware` too.

    `float_model` is the float file of a quantised model. `threads` share the work, 0 is one per
    core; `workers` processes, or those of a dask `scheduler`, share the inputs.
    """

    float_model: Model | str | Path | None
    threads: int


@arguments_checked
def validate(
    model: Model | str | Path,
    chip: str | Path = DEFAULT_CHIP,
    runtime: RuntimeChoice = "auto",
    *,
    sensitivity: bool = False,
    explain: bool = False,
    counted: bool = True,
    **how: Unpack[Comparing],
) -> Validation:
    """Compare a runtime with float on inputs, tensor by tensor, as `hexsim validate` does.

    A float model is quantised with default options where the runtime needs that. `sensitivity`
    ranks layers by quantising one at a time; `explain` says why the worst layers lose accuracy, and
    what would help; `counted` counts the values of the worst tensors. `how` are the fields of
    `Comparing`, `Judging`, `Reading` and `Hardware`. Raises HexsimError if the runtime does not
    take the model, or the inputs do not fit it.
    """
    (platform,) = platforms_of(chip, how)
    runtime = runtime_on(platform, runtime, source_name(model))
    platform.chip.require(runtime)
    platform.stack.require(runtime)
    overrides = how.get("override_params")
    require_number(spelled("threads"), how.get("threads", 0), 0, 64)
    require_fixed_point(runtime, sensitivity, explain, overrides, how.get("calibration"))
    floats = how.get("float_model")
    compared = ComparedModel.load(
        source_name(model),
        None if floats is None else source_name(floats),
        how.get("input_dims"),
        overrides,
    )
    platform.require(compared.model, runtime)
    roles = roles_of(how, compared.model, compared.overrides, [runtime])
    count, scheduler = how.get("workers"), how.get("scheduler")
    alone = count is None and scheduler is None
    with nullcontext() if alone else workers_of(count, scheduler) as pool:
        question = Question(
            compared,
            platform,
            runtime,
            roles,
            calibrated_too(how, compared.quantizer_command),
            hta=how.get("hta", True),
            sensitivity=sensitivity,
            explain=explain,
            counted=counted,
            threads=how.get("threads", 0),
            pool=pool,
        )
        answer = run_validation(question)
    warn_of((answer.network, answer.findings))
    return answer
