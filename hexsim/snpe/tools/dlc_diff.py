"""`snpe-dlc-diff` shows the differences between two .dlc files."""

from hexsim.cli.diff import diff
from hexsim.snpe.option import UDL, Ignored, Option, Ours, RefusedOption, Tool

OPTIONS = (
    Option(("--input_dlc_one", "-i1"), ("FILE",), "A .dlc file.", Ours(), is_required=True),
    Option(
        ("--input_dlc_two", "-i2"), ("FILE",), "Another one.", Ours(), is_required=True
    ),
    Option(("--layers", "-l"), (), "Compare unique layers.", Ours("--show", "layers")),
    Option(("--parameters", "-p"), (), "Compare parameters.", Ours("--show", "parameters")),
    Option(("--dimensions", "-d"), (), "Compare dimensions.", Ours("--show", "dims")),
    Option(("--weights", "-w"), (), "Compare weights.", Ours("--show", "weights")),
    Option(("--outputs", "-o"), (), "Compare names of outputs.", Ours("--show", "outputs")),
    Option(("--hta", "-x"), (), "Compare HTA records.", Ours("--show", "sections")),
    Option(
        ("--copyrights", "-c"), (), "Compare copyrights.",
        Ignored("files hold no copyright"),
    ),
    Option(
        ("--diff_by_id", "-i"), (), "Pair layers by their ids.",
        RefusedOption("layers are paired by name and type; leave it out"),
    ),
    Option(("--save", "-s"), ("FILE",), "Write the differences as CSV.", Ours("--csv")),
    UDL,
)  # fmt: skip

TOOLS = {
    "snpe-dlc-diff": Tool(
        "snpe-dlc-diff", "Show the differences between two .dlc files; without a flag, all.",
        diff, OPTIONS,
    )
}  # fmt: skip
