"""How many examples are drawn: all in thorough runs, a part of them in others.

CI makes both runs. HEXSIM_THOROUGH=1 in the environment makes one thorough.
"""

from __future__ import annotations

import os

from hypothesis import settings

THOROUGH = os.environ.get("HEXSIM_THOROUGH", "") == "1"
SHARE = 3
"""Of how many examples a quick run draws one."""


def examples(most: int) -> settings:
    """Draw so many examples if the run is thorough."""
    return settings(max_examples=most if THOROUGH else -(-most // SHARE))
