"""`python -m hexsim.snpe TOOL ...`, for a checkout that is not installed."""

import sys

from hexsim.snpe import run
from hexsim.snpe.tool import TOOLS

if len(sys.argv) < 2 or sys.argv[1] not in TOOLS:
    sys.stderr.write(f"hexsim.snpe: name a tool; known: {', '.join(TOOLS)}\n")
    sys.exit(2)
run(sys.argv[1], sys.argv[2:])
