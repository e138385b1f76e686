"""`snpe-dlc-viewer`: a .dlc file as a page for a browser."""

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
        "snpe-dlc-viewer", "Write a page for a browser on a .dlc file.", view, OPTIONS,
        notes=("No browser is opened; without `-s` the page lies beside the .dlc file.",),
    )
}  # fmt: skip
