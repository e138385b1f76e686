"""`hexsim.partition`: how a network is cut for AIP or a tensor processor, and why."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from hexsim.api import warn_of
from hexsim.api.benchmark import source_name
from hexsim.api.hardware import Hardware, flag, hardware, known_runtime
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError, keywords_checked
from hexsim.quantization.model import Model
from hexsim.results.partition import Partition
from hexsim.runtimes import MAIN_ENGINE, Runtime
from hexsim.studies.cuts import partition_of


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
    """Return the subnets of a model on aip, htp or htp_fp16, as `hexsim partition` does.

    On aip each cut has its reason and cost, and what the HTA refuses is listed. `hta_partitions`
    lists sections by layer ids, as in "0-11,15-20"; None takes those of the file, or automatic
    ones. `search` finds the fastest of all legal cuts. `how` are the fields of `PartitionOptions`.
    Raises HexsimError if a section breaks a rule, or if the chip has no such runtime.
    """
    flag("search", search)
    engine = MAIN_ENGINE[known_runtime(runtime)]
    if engine == "htp" and (hta_partitions is not None or search):
        raise HexsimError(f"hta_partitions and search are for aip; {runtime} has no HTA sections")
    if engine != "htp" and runtime != "aip":
        raise HexsimError(f"runtime {runtime} has one engine and makes no such cuts; give aip")
    (platform,) = hardware([chip], how)
    loaded = load(source_name(model), input_dims=how.get("input_dims") or {})
    listed, profile = hta_partitions, how.get("perf_profile")
    cut = partition_of(loaded, platform, runtime, listed, profile, searching=search)
    warn_of(cut.findings)
    return cut
