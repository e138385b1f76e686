"""`hexsim.overview`: the answer on a model, with all that its page shows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from hexsim.api.parameters import runtimes_of, source_name, warn_of
from hexsim.deployment.source_model import Preparation, SourceModel, runtime_on
from hexsim.dlc.loading import load_container
from hexsim.errors import step
from hexsim.inputs.source import InputRoles
from hexsim.quantization.model import Model
from hexsim.results.overview import Overview
from hexsim.results.partition import Partition
from hexsim.results.validation import Validation
from hexsim.runtimes import DEFAULT_CHIP, FIXED_POINT, Runtime, RuntimeChoice
from hexsim.studies.benchmark import BenchmarkConditions, answered, run_benchmark
from hexsim.studies.conditions import Settings, platforms_of
from hexsim.studies.judging import Judging, require_inputs, roles_of
from hexsim.texts.arguments import arguments_checked


class Examining(Settings, Judging, total=False):
    """What is left out, and the fields of `Settings` and `Judging`.

    `timing_only` leaves values and accuracy out, `uncertainty` False the intervals and constants.
    With `brief` there are only times on a few draws of the constants, without a page.
    """

    timing_only: bool
    uncertainty: bool
    brief: bool


@arguments_checked
def overview(
    model: Model | str | Path,
    chip: str | Path = DEFAULT_CHIP,
    runtime: RuntimeChoice | Sequence[Runtime] = "auto",
    **how: Unpack[Examining],
) -> Overview:
    """Return the answer on a model, as `hexsim overview` does; `.html(path)` writes its page.

    `runtime` "auto" is that of a deployed network, as for `hexsim.profile`. A float model is
    quantised for runtimes that refuse it unless `quantize` is False. `how` are the fields of
    `Examining`, `Settings` and `Judging`. Raises HexsimError if no runtime takes the model.
    """
    (platform,) = platforms_of(chip, how)
    source = source_name(model)
    asked = None if runtime == "auto" else runtimes_of(runtime)
    runtimes = asked or (runtime_on(platform, "auto", source),)
    if how.get("brief"):
        under = BenchmarkConditions.of(platform, how, sweep="a few draws", accuracy=False)
        cases, refused = answered(run_benchmark([source], platform, runtimes, under))
        return Overview(results=cases, refused=refused)
    from hexsim.studies.cuts import LayerTimes, Prices, compiled_sections, survey
    from hexsim.studies.validation import examined

    read = load_container(source, input_dims=how.get("input_dims") or {})
    loaded = SourceModel(source, read, platform, Preparation.of(how))
    roles: InputRoles | None = None
    if not how.get("timing_only"):
        roles = roles_of(how, loaded.model, loaded.overrides, runtimes)
        loaded.calibrate_on(roles)
    under = BenchmarkConditions.of(
        platform,
        how,
        sweep="everything" if how.get("uncertainty", True) else None,
        accuracy=roles is not None,
        inputs=(lambda other: roles) if roles is not None and require_inputs(how) else None,
        recorded=True,
        roofs=True,
    )
    cases, refused = answered(run_benchmark([source], platform, runtimes, under))
    warn_of(*((case.network, case.findings) for case in cases))
    errors, cuts = dict[str, Validation](), dict[str, Partition]()
    for case in cases:
        deployment = loaded.deployment(case.runtime)
        if roles is not None and case.runtime in FIXED_POINT:
            step(f"comparing {case.runtime} with float")
            errors[case.runtime] = examined(deployment, roles, case.perf_profile)
        if case.runtime == "aip":
            step("explaining the cuts of aip")
            prices = Prices(LayerTimes(deployment, case.perf_profile))
            cuts["aip"] = survey(prices, compiled_sections(deployment))
    counted = loaded.quantized if errors else loaded.model
    return Overview(results=cases, refused=refused, errors=errors, cuts=cuts, model=counted)
