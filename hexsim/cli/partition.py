"""`hexsim partition` shows which engine runs which layer, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hexsim.cli._files import OUTPUT
from hexsim.cli._options import JsonOption, ModelArgument, ProfileOption
from hexsim.cli._output import Html
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import RuntimeOnChip, Shapes
from hexsim.records import dataclass


@dataclass(frozen=True)
class Cuts(Shapes):
    """The cuts to examine."""

    hta_partitions: Annotated[str | None, "Layer ids of aip's sections, as in 0-11,15-20."] = None
    search: Annotated[bool, "Find the fastest legal cut for aip."] = False
    perf_profile: ProfileOption = None


@dataclass(frozen=True)
class Drawings(Html):
    """Files with subnets and cuts, for programs and as a picture."""

    json: JsonOption = None
    graph: Annotated[Path | None, "Draw the network by subnet (SVG).", OUTPUT] = None


@paged
@grouped
def partition(*, model: ModelArgument, place: RuntimeOnChip, cuts: Cuts, outputs: Drawings) -> None:
    """Show which engine runs which layer, and why layers run on the CPU, at what cost.

    It names what would keep such a layer on the engine. For AIP it also shows each cut with its
    reason and cost, and what the HTA refuses.
    """
    from hexsim.api import networks as api
    from hexsim.reports.partition import partition_drawing
    from hexsim.reports.svg import network_svg

    with TERMINAL.status():
        cut = api.partition(model, **place.keywords(), **cuts.keywords())
    outputs.write(cut, graph=lambda: network_svg(*partition_drawing(cut)))
    say(str(cut))
