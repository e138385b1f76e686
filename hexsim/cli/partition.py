"""`hexsim partition` shows how a network is cut for AIP or a tensor processor, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import OUTPUT
from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    InputDimOption,
    JsonOption,
    ModelArgument,
    ProfileOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import Html
from hexsim.cli._overrides import print_losses
from hexsim.cli._page import paged
from hexsim.cli._say import command_line, say
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError
from hexsim.runtimes import MAIN_ENGINE, Runtime

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.quantization.model import Model

_HARDWARE = Hardware("sd855")
"""The default: sd835 has no AIP."""


@dataclass(frozen=True)
class Cuts:
    """The cuts to examine."""

    hta_partitions: Annotated[
        str | None,
        typer.Option("--hta-partitions", help="Layer ids of the sections, as in 0-11,15-20."),
    ] = None
    search: Annotated[
        bool, typer.Option("--search", help="Find the fastest of all legal cuts.")
    ] = False


@dataclass(frozen=True)
class Drawings(Html):
    """Files with subnets and cuts, for programs and as a picture."""

    json: JsonOption = None
    graph: Annotated[
        Path | None, typer.Option("--graph", help="Draw the network by subnet (SVG)."), OUTPUT
    ] = None


@paged
@grouped
def partition(
    *,
    model: ModelArgument,
    hardware: Hardware = _HARDWARE,
    runtime: Annotated[str, typer.Option("--runtime", help="aip, htp or htp_fp16.")] = "aip",
    cuts: Cuts,
    perf_profile: ProfileOption = None,
    input_dim: InputDimOption = None,
    outputs: Drawings,
) -> None:
    """Show the subnets of AIP, each cut with its reason and cost, and what the HTA refuses.

    For a tensor processor: its subnets, and why the other layers run on the CPU.
    """
    outputs.check()
    target = _target(runtime, cuts, outputs)
    platform = hardware.platform()

    from hexsim.cli._progress import status
    from hexsim.deployment import Deployment
    from hexsim.dlc.loading import load
    from hexsim.reports.partition.data import partition_facts
    from hexsim.reports.partition.svg import partition_svg
    from hexsim.reports.partition.table import partition_table, search_lines
    from hexsim.studies.cuts import Prices, chosen_sections, search, survey
    from hexsim.studies.cuts.times import LayerTimes

    platform.chip.require(target)
    platform.stack.require(target)
    loaded = load(model, input_dims=parse_input_dims(input_dim))
    if target != "aip":
        _of_processor(loaded, platform, target)
        return
    with status() as progress:
        progress(f"cutting {loaded.name}")
        deployment = Deployment(loaded, platform, "aip")
        sections, source = chosen_sections(deployment, cuts.hta_partitions)
        prices = Prices(LayerTimes(deployment, perf_profile))
        fastest = search(prices) if cuts.search else None
        surveyed = survey(prices, sections)
    print_losses(deployment, perf_profile)
    network = prices.times.network

    def html() -> str:
        from hexsim.reports.pages.command_pages import partition_page

        return partition_page(network, prices, surveyed, fastest, command_line())

    outputs.write(
        json=lambda: partition_facts.json(prices, surveyed, fastest),
        graph=lambda: partition_svg(network, surveyed),
        html=html,
    )
    say(
        f"{loaded.name} on {platform.chip.name} aip, {platform.software} "
        f"(rules {platform.stack.partitioning.rules}); HTA sections: {source}\n"
    )
    say(partition_table(network, surveyed))
    if fastest is not None:
        say("\n" + search_lines(fastest))


def _target(runtime: str, cuts: Cuts, outputs: Drawings) -> Runtime:
    target = parse_runtime(runtime)
    if MAIN_ENGINE[target] == "htp" and (cuts != Cuts() or outputs.asked):
        raise HexsimError(f"{runtime} has no HTA sections: options for cuts and files are for aip")
    if MAIN_ENGINE[target] != "htp" and target != "aip":
        raise HexsimError(f"runtime {runtime} has one engine and makes no such cuts; give aip")
    return target


def _of_processor(loaded: Model, platform: Platform, runtime: Runtime) -> None:
    """Print the subnets of a tensor processor, and the layers that it refuses."""
    from hexsim.deployment import deploy
    from hexsim.reports.partition.table import subnet_table

    deployment = deploy(loaded, platform, runtime)
    print_losses(deployment)
    say(f"{loaded.name} on {platform.chip.name} {runtime}, {platform.software}\n")
    say(subnet_table(deployment.subnets))
