"""`hexsim.compare` and `compare_measured`: results, or a phone's profile and a simulation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack, cast

from hexsim.api.parameters import source_name, warn_of
from hexsim.deployment.phone_profile.reading import read_profile
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, spelled
from hexsim.quantization.model import Model
from hexsim.results.comparison import Comparison
from hexsim.results.document import Document
from hexsim.results.phone import PhoneComparison
from hexsim.runtimes import Runtime
from hexsim.studies import comparison
from hexsim.studies.conditions import Hardware, Reading, platforms_of
from hexsim.studies.phone_comparison import beside_phone
from hexsim.texts.arguments import arguments_checked


class Beside(Hardware, Reading, total=False):
    """How the simulation beside a profile is made, and the settings of `Hardware` and `Reading`.

    `perf_profile` and `buffer` None are those of the profile. `cpu_fallback` (default: true) lets
    the CPU run what the runtime does not take.
    """

    perf_profile: str | None
    buffer: str | None
    cpu_fallback: bool


@arguments_checked
def compare_measured(
    model: Model | str | Path,
    measured: str | Path,
    chip: str | Path,
    runtime: Runtime | None = None,
    **how: Unpack[Beside],
) -> PhoneComparison:
    """Return the profile of a phone, a file, beside the simulation of `model` on its `chip`.

    `runtime` None is that of the profile; a float model is quantised where it needs that. `how` are
    the fields of `Beside`, `Hardware` and `Reading`. Raises HexsimError if the file is no profile,
    or nothing fits it.
    """
    source = source_name(model)
    if source.endswith(".json"):
        raise HexsimError(
            f"{spelled('measured')} sets a profile beside a model, and '{source}' is no model; "
            "give the .dlc or ONNX file, or a built-in network"
        )
    profile = read_profile(Path(measured))
    if not chip:
        raise HexsimError(
            f"{spelled('measured')} needs the chip of that phone; give {spelled('chip')}"
        )
    (platform,) = platforms_of(chip, how)
    preparation = Preparation.of(how)
    dims = {name: tuple(shape) for name, shape in how.get("input_dims", {}).items()}
    loaded = SourceModel(source, load_container(source, input_dims=dims), platform, preparation)
    perf_profile, buffer = how.get("perf_profile"), how.get("buffer")
    file = Path(measured).name
    answer = beside_phone(profile, loaded, platform, runtime, perf_profile, buffer, file)
    warn_of((answer.network, answer.findings))
    return answer


Compared = Document | str | Path
"""A result: what a function returned, or the file that `save` or a command wrote as JSON."""


@arguments_checked
def compare(before: Compared | Sequence[Compared], *after: Compared) -> Comparison:
    """Return the changes between a result and one or more others, as `hexsim compare` does.

    `compare([a, b, c])` is `compare(a, b, c)`: b and c beside a. Raises HexsimError if a file holds
    no result.
    """
    single = isinstance(before, Document | str | Path)
    results = [before, *after] if single else [*cast(Sequence[Compared], before), *after]
    if len(results) < 2:
        raise HexsimError("hexsim.compare got one result; give another to compare it with")
    return comparison.compare(*map(_written, cast(Sequence[Compared], results)))


def _written(result: Compared) -> comparison.Written:
    if isinstance(result, Document):
        return comparison.Written(result)
    return comparison.read_result(Path(result))
