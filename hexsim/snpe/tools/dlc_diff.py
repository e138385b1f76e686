"""`snpe-dlc-diff` shows the differences between two .dlc files."""

from hexsim.cli.diff import diff
from hexsim.snpe.option import UDL, Tool
from hexsim.snpe.option_tables import option_table

OPTIONS = (*option_table("dlc_diff")["options"], UDL)

TOOLS = {
    "snpe-dlc-diff": Tool(
        "snpe-dlc-diff", "Show the differences between two .dlc files; without a flag, all.",
        diff, OPTIONS,
    )
}  # fmt: skip
