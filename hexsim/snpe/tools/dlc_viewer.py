"""`snpe-dlc-viewer` writes a page for a browser about a .dlc file."""

from hexsim.cli.view import view
from hexsim.snpe.option import UDL, Option, Ours, Tool

OPTIONS = (
    Option(("--input_dlc", "-i"), ("FILE",), "The .dlc file.", Ours(), is_required=True),
    Option(
        ("--save", "-s"), ("FILE",), "The HTML file to write; default: INPUT.html.",
        Ours("--output"),
    ),
    UDL,
)  # fmt: skip

TOOLS = {
    "snpe-dlc-viewer": Tool(
        "snpe-dlc-viewer", "Write a page for a browser about a .dlc file.", view, OPTIONS,
        notes=("No browser is opened; without `-s` the page is written beside the .dlc file.",),
    )
}  # fmt: skip
