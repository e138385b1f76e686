"""`hexsim models` lists and exports the built-in networks."""

from pathlib import Path
from typing import Annotated

import typer

from hexsim.cli._command import Group
from hexsim.cli._files import OUTPUT
from hexsim.cli._say import say
from hexsim.cli._signature import paged
from hexsim.files.atomic_write import require_ending

app = typer.Typer(
    cls=Group,
    add_completion=False,
    help="Built-in networks: seeded weights, and two small trained ones.",
    no_args_is_help=True,
)


@app.command("list")
@paged
def list_models() -> None:
    """List the built-in networks with their size."""
    from hexsim import models
    from hexsim.dlc.loading import load
    from hexsim.reports.text import table

    rows = []
    for name in models.names():
        network = load(name).network
        first = network.tensors[network.inputs[0]]
        rows.append(
            (
                name,
                "x".join(map(str, first.shape)),
                f"{len(network.layers)}",
                f"{network.total_macs:,}",
                f"{network.total_parameters:,}",
            )
        )
    say(table(("network", "input (NHWC)", "layers", "MACs", "parameters"), rows))


@app.command()
def export(
    name: Annotated[str, typer.Argument(help="Network name, see `hexsim models list`.")],
    output: Annotated[Path, "ONNX file to write.", OUTPUT],
) -> None:
    """Write a built-in network as an ONNX file."""
    from hexsim import models

    require_ending(output, ".onnx")
    models.export(name, output)
    say(f"wrote {output}")
