"""`hexsim.diff` and `partition`: what two models differ in, and how a network is cut."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from hexsim.api.parameters import source_name, warn_of
from hexsim.deployment.source_model import runtime_on
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError, spelled, step
from hexsim.quantization.model import Model
from hexsim.results.difference import KINDS, Difference, Kind
from hexsim.results.partition import Partition
from hexsim.runtimes import DEFAULT_CHIP, RuntimeChoice
from hexsim.studies.conditions import Hardware, platforms_of
from hexsim.studies.cuts import partition_of
from hexsim.studies.difference import difference
from hexsim.texts.arguments import arguments_checked


@arguments_checked
def diff(
    first: Model | str | Path, second: Model | str | Path, show: Sequence[Kind] = ()
) -> Difference:
    """Return what two models differ in, layer by layer, as `hexsim diff` does.

    `show` limits it to "layers", "parameters", "dims", "weights", "outputs" or "sections". Layers
    are paired by name and type. Raises HexsimError for another kind, or a file that is no model.
    """
    names = source_name(first), source_name(second)
    return difference(load(names[0]), load(names[1]), names, show or tuple(KINDS))


class PartitionOptions(Hardware, total=False):
    """The performance profile, shapes of inputs by their names, and the settings of `Hardware`."""

    perf_profile: str | None
    input_dims: Mapping[str, Sequence[int]]


@arguments_checked
def partition(
    model: Model | str | Path,
    chip: str | Path = DEFAULT_CHIP,
    runtime: RuntimeChoice = "auto",
    *,
    hta_partitions: str | None = None,
    search: bool = False,
    **how: Unpack[PartitionOptions],
) -> Partition:
    """Return the subnets of a model on a runtime, as `hexsim partition` does.

    `on_cpu` has the layers that the engine leaves to the CPU: why, what they cost, and what would
    keep them. On aip each cut has its reason and cost, and what the HTA refuses is listed.
    `hta_partitions` lists sections by layer ids, as in "0-11,15-20"; None takes those of the file,
    or automatic ones. `search` finds the fastest of all legal cuts. `how` are the fields of
    `PartitionOptions`.
    `runtime` "auto" is aip then, otherwise that of a deployed network (`hexsim.simulate`). Raises
    HexsimError if a section breaks a rule, or if the chip has no such runtime.
    """
    (platform,) = platforms_of(chip, how)
    if runtime == "auto" and (hta_partitions is not None or search):
        runtime = "aip"
    runtime = runtime_on(platform, runtime, source_name(model))
    if runtime != "aip" and (hta_partitions is not None or search):
        raise HexsimError(
            f"lists of sections and {spelled('search')} are for aip; {runtime} has no HTA sections"
        )
    loaded = load(source_name(model), input_dims=how.get("input_dims") or {})
    step(f"cutting {loaded.name}")
    listed, profile = hta_partitions, how.get("perf_profile")
    cut = partition_of(loaded, platform, runtime, listed, profile, searching=search)
    warn_of((cut.network, cut.findings))
    return cut
