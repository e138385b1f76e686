"""Tests see the networks of their own checkout, whichever one is installed.

Left out: a Python that a test starts itself sees those of the installed one.
"""

from pathlib import Path

import hexsim

# Where hexsim/ is looked through for `models`, the folder beside it is found: as in the installed
# package, in which the build has put it there.
hexsim.__path__.append(str(Path(__file__).parent))
