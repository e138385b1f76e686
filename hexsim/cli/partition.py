"""`hexsim partition`: how a network is cut for AIP, why, and at what price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    InputDimOption,
    JsonOption,
    ProfileOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError

_HARDWARE = Hardware("sd855")
"""The default: sd835 has no AIP."""


@grouped
def partition(
    *,
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    hardware: Hardware = _HARDWARE,
    runtime: Annotated[str, typer.Option("--runtime", help="Only aip has engines to cut for.")] = (
        "aip"
    ),
    hta_partitions: Annotated[
        str | None,
        typer.Option("--hta-partitions", help="Layer ids of the sections, as in 0-11,15-20."),
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="Find the fastest of all legal cuts.")
    ] = False,
    perf_profile: ProfileOption = None,
    input_dim: InputDimOption = None,
    json: JsonOption = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", help="Draw the network by subnet (SVG).")
    ] = None,
) -> None:
    """Show the subnets of AIP, each cut with its reason and cost, and what the HTA refuses."""
    from hexsim.cli._progress import status
    from hexsim.container.loading import load
    from hexsim.files import write_text
    from hexsim.reports.partition_json import partition_json
    from hexsim.reports.partition_svg import partition_svg
    from hexsim.reports.partition_table import partition_table, search_lines
    from hexsim.studies.cuts import Prices, chosen_sections
    from hexsim.studies.cuts import search as find
    from hexsim.studies.cuts import survey as explain
    from hexsim.studies.cuts.times import LayerTimes

    if parse_runtime(runtime) != "aip":
        raise HexsimError(f"runtime {runtime} has one engine and makes no such cuts; give aip")
    require_outputs((json, graph), (model,))
    platform = hardware.platform()
    platform.chip.require("aip")
    platform.stack.require("aip")
    loaded = load(model, input_dims=parse_input_dims(input_dim))
    with status() as progress:
        progress(f"cutting {loaded.name}")
        sections, source = chosen_sections(loaded, platform, hta_partitions)
        prices = Prices(LayerTimes(loaded, platform, perf_profile))
        found = find(prices) if search else None
        survey = explain(prices, sections)
    if json is not None:
        write_text(json, partition_json(prices, survey, found))
    if graph is not None:
        write_text(graph, partition_svg(prices.times.network, survey))
    typer.echo(
        f"{loaded.name} on {platform.chip.name} aip, {platform.stack.name} "
        f"(rules {platform.stack.partitioning.rules}); HTA sections: {source}\n"
    )
    typer.echo(partition_table(prices.times.network, survey))
    if found is not None:
        typer.echo("\n" + search_lines(found))
