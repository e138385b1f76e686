"""`snpe-dlc-viewer` writes a page for a browser about a .dlc file."""

from hexsim.cli.view import view
from hexsim.snpe.option import UDL, Option, Ours
from hexsim.snpe.option_tables import tools

OPTIONS = (
    Option(("--input_dlc", "-i"), ("FILE",), "The .dlc file.", Ours(), is_required=True),
    Option(
        ("--save", "-s"), ("FILE",), "The HTML file to write; default: INPUT.html.",
        Ours("--output"),
    ),
    UDL,
)  # fmt: skip

TOOLS = tools({"snpe-dlc-viewer": (view, OPTIONS)})
