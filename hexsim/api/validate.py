"""`hexsim.validate`: a runtime compared with float, and the layers with errors."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from hexsim.api import warn_of
from hexsim.api.benchmark import labels_of
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import ModelInMemory
from hexsim.errors import HexsimError, keywords_checked, unknown, warn_caller
from hexsim.inputs.input_sets import InputSets, read_inputs
from hexsim.inputs.source import InputRoles, Part
from hexsim.quantization.model import Model
from hexsim.results.validation import Validation
from hexsim.runtimes import FIXED_POINT, RUNTIMES, Runtime
from hexsim.studies.judging import ComparedModel, NamedInputs
from hexsim.studies.processes import workers
from hexsim.studies.validation import Question, require_fixed_point, run_validation


class Comparing(TypedDict, total=False):
    """What is compared, on what, and by whom.

    `inputs` judge: arrays, mappings by input name, the path of an input list, or of a folder of
    pictures, or `hexsim.pictures`; by default seeded ones. `part` takes every second
    of them. `labels` has the right class of each, or several, or is a file of them. `calibration`
    (as `inputs`) calibrates a model that is quantised here; without it every second input does.
    `float_model` is the float file of a quantised model. `override_params` applies the overrides
    that the file holds; None those of an ONNX file's own quantising nodes, False none. `hta`
    (default: true) compiles sections for the tensor engine. `input_dims` has shapes of inputs by
    their names. `threads` share the work, 0 is one per core; `workers` processes, or those of a
    dask `scheduler`, share the inputs.
    """

    inputs: InputSets
    part: Part
    labels: Sequence[int | Sequence[int]] | str | Path
    calibration: InputSets
    float_model: Model | str | Path
    override_params: bool | None
    hta: bool
    input_dims: Mapping[str, Sequence[int]]
    threads: int
    workers: int
    scheduler: str


@keywords_checked
def validate(
    model: Model | str | Path,
    chip: str | Path = "sd835",
    runtime: Runtime = "dsp",
    *,
    stack: str | Path | None = None,
    sensitivity: bool = False,
    explain: bool = False,
    **how: Unpack[Comparing],
) -> Validation:
    """Compare a runtime with float on inputs, tensor by tensor, as `hexsim validate` does.

    A float model is quantised with default options where the runtime needs that. `sensitivity`
    ranks layers by quantising one at a time; `explain` says why the worst layers lose accuracy, and
    what would help. `how` are the fields of `Comparing`. Raises HexsimError if the runtime does not
    take the model, or the inputs do not fit it.
    """
    if runtime not in RUNTIMES:
        raise unknown("runtime", runtime, RUNTIMES)
    platform = Platform.load(chip, stack)
    platform.chip.require(runtime)
    platform.stack.require(runtime)
    calibrated = "calibration" in how
    require_fixed_point(runtime, sensitivity, explain, how.get("override_params"), calibrated)
    floats = how.get("float_model")
    compared = ComparedModel.load(
        named(model),
        None if floats is None else named(floats),
        how.get("input_dims"),
        how.get("override_params"),
    )
    platform.require(compared.model, runtime)
    question = Question(
        compared,
        platform,
        runtime,
        roles_of(compared, how, runtime),
        hta=how.get("hta", True),
        sensitivity=sensitivity,
        explain=explain,
        counted=True,
        threads=how.get("threads", 0),
    )
    with ExitStack() as stack_of_workers:
        if "workers" in how or "scheduler" in how:
            pool = stack_of_workers.enter_context(
                workers(how.get("scheduler"), how.get("workers", 1))
            )
            question = replace(question, pool=pool)
        answer = run_validation(question)
    warn_of(answer.findings)
    return answer


def named(model: Model | str | Path) -> str:
    """Return the name by which readers of files know a model, also one in memory."""
    return ModelInMemory(model) if isinstance(model, Model) else str(model)


def roles_of(compared: ComparedModel, how: Comparing, runtime: Runtime) -> InputRoles:
    """Return the inputs that judge, and those that calibrate if the model is quantised here."""
    network = compared.model.network
    if "inputs" not in how:
        unused = next((name for name in ("labels", "part") if name in how), None)
        if unused is not None:
            raise HexsimError(f"{unused} goes with inputs; give both")
    judging = read_inputs(how.get("inputs"), network)
    calibration = how.get("calibration")
    named = NamedInputs(
        judging,
        labels_of(how.get("labels"), judging, network),
        how.get("part"),
        None if calibration is None else lambda: read_inputs(calibration, network),
    )
    in_codes = runtime in FIXED_POINT
    return named.roles(compared.model, compared.overrides, in_codes=in_codes, remark_on=warn_caller)
