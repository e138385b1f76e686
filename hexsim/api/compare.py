"""`hexsim.compare` and `compare_measured`: two results, or a phone's profile and a simulation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from hexsim.api import warn_of
from hexsim.api.benchmark import source_name
from hexsim.api.hardware import Hardware, hardware
from hexsim.deployment.findings import findings_of
from hexsim.deployment.given import GivenModel, Preparation
from hexsim.deployment.phone_profile.comparison import (
    PhoneComparison,
    compare_profile,
    simulated_beside,
)
from hexsim.deployment.phone_profile.reading import read_profile
from hexsim.deployment.phone_profile.selection import selected_run
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, keywords_checked
from hexsim.quantization.model import Model
from hexsim.results.comparison import Comparison
from hexsim.results.document import Document
from hexsim.runtimes import Runtime
from hexsim.studies import comparison


class Beside(Hardware, total=False):
    """How the simulation beside a profile is made, and the settings of `Hardware`.

    `perf_profile` and `buffer` None are those of the profile. `override_params` applies the
    overrides that the file holds; None those of an ONNX file's own quantising nodes, False none.
    `hta` (default: true) compiles sections for the tensor engine; `cpu_fallback` (default: true)
    lets the CPU run what the runtime does not take. `input_dims` has shapes by names of inputs.
    """

    perf_profile: str | None
    buffer: str | None
    override_params: bool | None
    hta: bool
    cpu_fallback: bool
    input_dims: Mapping[str, Sequence[int]]


@keywords_checked
def compare_measured(
    model: Model | str | Path,
    measured: str | Path,
    chip: str | Path,
    runtime: Runtime | None = None,
    **how: Unpack[Beside],
) -> PhoneComparison:
    """Return the profile of a phone, a file, beside the simulation of `model` on its `chip`.

    `runtime` None is that of the profile; a float model is quantised where it needs that. `how` are
    the fields of `Beside`. Raises HexsimError if the file is no profile, or nothing fits it.
    """
    profile, (platform,) = read_profile(Path(measured)), hardware([chip], how)
    buffer, perf_profile = how.get("buffer"), how.get("perf_profile")
    run, here = selected_run(profile, platform.runtimes, runtime, buffer)
    preparation = Preparation(
        quantize=True,
        override_params=how.get("override_params"),
        hta=how.get("hta", True),
        cpu_fallback=how.get("cpu_fallback", True),
    )
    source = source_name(model)
    container = load_container(
        source, input_dims={name: tuple(dims) for name, dims in how.get("input_dims", {}).items()}
    )
    given = GivenModel(source, container, platform, preparation)
    deployment, timing, used = simulated_beside(
        profile, run, given, here, perf_profile=perf_profile, buffer=buffer
    )
    warn_of(findings_of(deployment, used))
    return compare_profile(profile, run, deployment, timing, used)


@keywords_checked
def compare(before: Document | str | Path, after: Document | str | Path) -> Comparison:
    """Return the changes between two results, as `hexsim compare` does.

    A result is what a function of hexsim returned, or the file that `save` or a command wrote as
    JSON. Raises HexsimError if a file holds no result.
    """
    return comparison.compare(_written("before", before), _written("after", after))


def _written(name: str, result: Document | str | Path) -> comparison.Written:
    if isinstance(result, Document):
        return comparison.Written(result)
    if isinstance(result, str | Path):
        return comparison.read_result(Path(result))
    raise HexsimError(f"{name} is a result or the file of one, not {type(result).__name__}")
