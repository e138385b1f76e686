"""Imports matplotlib and sets the folder of its settings and caches.

By default matplotlib writes a list of fonts into the home of the user and reads settings for
pictures from there and from the current folder. Pictures of hexsim look the same everywhere, and
hexsim writes nothing but its outputs and its own caches.
"""

import os
from importlib import import_module
from types import ModuleType

from hexsim.files.private import private_folder
from hexsim.isolation import own_folder
from hexsim.texts.extras import missing

_PLACE = "MPLCONFIGDIR"
"""The environment variable that names the folder; else matplotlib uses a temporary one."""


def load_matplotlib() -> ModuleType:
    """Return the module matplotlib; HexsimError if it is not installed."""
    if _PLACE not in os.environ and (folder := private_folder("matplotlib")):
        os.environ[_PLACE] = str(folder)
    try:
        with own_folder("matplotlib"):
            for part in ("figure", "ticker"):
                import_module(f"matplotlib.{part}")
        return import_module("matplotlib")
    except ImportError:
        raise missing("drawing needs matplotlib, which is not installed", "report") from None
