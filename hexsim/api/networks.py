"""`hexsim.info`, `diff` and `partition`: what a network is made of, and how it is cut."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy.typing as npt

from hexsim.api import warn_of
from hexsim.api.benchmark import source_name
from hexsim.api.hardware import Hardware, flag, hardware, known_runtime
from hexsim.dlc.loading import load, load_container
from hexsim.errors import HexsimError, keywords_checked, spelled, unknown
from hexsim.quantization.model import Model
from hexsim.results.difference import KINDS, Difference
from hexsim.results.info import Info
from hexsim.results.partition import Partition
from hexsim.runtimes import Runtime
from hexsim.studies.cuts import partition_of
from hexsim.studies.difference import difference
from hexsim.studies.model_info import answered


@keywords_checked
def info(
    model: Model | str | Path,
    chip: str | Path | None = None,
    runtime: Runtime | None = None,
    *,
    memory: Runtime | None = None,
    imports: bool = False,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    input_values: Mapping[str, npt.ArrayLike] | None = None,
    output_names: Sequence[str] = (),
) -> Info:
    """List the layers of a model: shapes, runtimes, parameters, MACs, as `hexsim info` does.

    With a `chip`, the time of each layer on `runtime` (None: the first that the chip has of htp,
    dsp, gpu and cpu), what is lost there, and the cost of rescaling weights for its DSP. `memory`
    is a runtime whose memory is listed too; `imports` adds the nodes that an ONNX file's layers
    were made of. `input_dims`, `input_values` and `output_names` change the network first, as for
    `hexsim.load`. No weight is read without a chip. Raises HexsimError if a runtime does not take
    the model.
    """
    if runtime is not None and chip is None:
        raise HexsimError(
            f"{spelled('runtime')} is for the times on a chip; give {spelled('chip')} too"
        )
    for name in (runtime, memory):
        if name is not None:
            known_runtime(name)
    source = source_name(model)
    read = load_container(
        source,
        input_dims=input_dims or {},
        input_values=input_values or {},
        output_names=output_names,
    )
    return answered(read, source, chip, runtime, memory, imports=imports)


@keywords_checked
def diff(
    first: Model | str | Path, second: Model | str | Path, show: Sequence[str] = ()
) -> Difference:
    """Return what two models differ in, layer by layer, as `hexsim diff` does.

    `show` limits it to "layers", "parameters", "dims", "weights", "outputs" or "sections". Layers
    are paired by name and type. Raises HexsimError for another kind, or a file that is no model.
    """
    for kind in show:
        if kind not in KINDS:
            raise unknown(spelled("show"), kind, KINDS)
    names = source_name(first), source_name(second)
    return difference(load(names[0]), load(names[1]), names, show or tuple(KINDS))


class PartitionOptions(Hardware, total=False):
    """The performance profile, shapes of inputs by their names, and the settings of `Hardware`."""

    perf_profile: str | None
    input_dims: Mapping[str, Sequence[int]]


@keywords_checked
def partition(
    model: Model | str | Path,
    chip: str | Path = "sd855",
    runtime: Runtime = "aip",
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
    Raises HexsimError if a section breaks a rule, or if the chip has no such runtime.
    """
    flag("search", search)
    if known_runtime(runtime) != "aip" and (hta_partitions is not None or search):
        raise HexsimError(f"hta_partitions and search are for aip; {runtime} has no HTA sections")
    (platform,) = hardware([chip], how)
    loaded = load(source_name(model), input_dims=how.get("input_dims") or {})
    listed, profile = hta_partitions, how.get("perf_profile")
    cut = partition_of(loaded, platform, runtime, listed, profile, searching=search)
    warn_of(cut.findings)
    return cut
