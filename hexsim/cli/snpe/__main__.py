"""`python -m hexsim.cli.snpe TOOL ...`, for a checkout that is not installed."""

import sys

from hexsim.cli import start
from hexsim.cli.snpe.tool import TOOLS

if len(sys.argv) < 2 or sys.argv[1] not in TOOLS:
    sys.stderr.write(f"hexsim.cli.snpe: name a tool; known: {', '.join(TOOLS)}\n")
    sys.exit(2)
start(sys.argv[1], sys.argv[2:])
