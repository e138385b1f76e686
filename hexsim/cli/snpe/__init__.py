"""The SNPE tools by their names: their options in, the same functions as our commands behind them.

Each tool is a file of `tools` with a table: what its options are called, what follows them, and
what they become here. `option` and `words` read a command line by any such table, and `tool` runs
what comes out. Which chip a tool simulates is asked by --chip and --stack, which SNPE's tools do
not have, or by HEXSIM_CHIP and HEXSIM_STACK.
"""

import sys
from pathlib import PurePath

from hexsim.cli import start


def main() -> None:
    """Run the tool that this program is called as; it ends with SystemExit."""
    start(PurePath(sys.argv[0]).name.removesuffix(".exe"), sys.argv[1:])
