"""matplotlib, imported in the one place that says where it keeps things.

By itself it keeps a list of the machine's fonts in the home of the user, and reads from there what
pictures shall look like. Ours look the same everywhere, and nothing is written but outputs and
what hexsim keeps between runs.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from hexsim.errors import HexsimError
from hexsim.files.private import private_folder

_PLACE = "MPLCONFIGDIR"
"""The variable that names the folder; without one matplotlib takes a temporary folder."""


def load_matplotlib() -> ModuleType:
    """Return the module matplotlib; HexsimError if it is not installed."""
    if _PLACE not in os.environ and (folder := private_folder("matplotlib")):
        os.environ[_PLACE] = str(folder)
    try:
        for part in ("figure", "ticker"):
            import_module(f"matplotlib.{part}")
        return import_module("matplotlib")
    except ImportError:
        raise HexsimError(
            "drawing needs matplotlib, which is not installed; pip install 'hexsim[report]'"
        ) from None
