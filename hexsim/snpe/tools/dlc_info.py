"""`snpe-dlc-info` lists the layers of a .dlc file."""

from hexsim.cli.info import info
from hexsim.snpe.option import UDL, Anyway, Option, Ours, Tool

OPTIONS = (
    Option(("--input_dlc", "-i"), ("FILE",), "The .dlc file.", Ours(), is_required=True),
    Option(("--save", "-s"), ("FILE",), "Write the table as CSV.", Ours("--csv")),
    Option(("--display_all_encodings", "-d"), (), "Show all encodings.", Anyway()),
    Option(
        ("--display_memory", "-m"), (), "Show the memory that is needed to run.",
        Ours("--memory", "dsp"),
    ),
    UDL,
)  # fmt: skip

TOOLS = {
    name: Tool(name, "List the layers of a .dlc file.", info, OPTIONS)
    for name in ("snpe-dlc-info", "qairt-dlc-info")
}
