"""onnxruntime, imported in the one place that keeps it from calling home.

From 1.29 on its Linux builds send events to their maker, write an identifier of the device and
look names up, all of it unless a variable of the environment says no before the library is
loaded. No command of ours may open a connection or write outside its outputs and caches, so
everything that needs the library asks here.
Source: https://github.com/microsoft/onnxruntime/pull/27379 and .../pull/29843.
"""

from __future__ import annotations

import os
from types import ModuleType

_OPT_OUTS = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Both spellings: releases differ in which of them they read."""


def switch_telemetry_off() -> None:
    """Set what keeps onnxruntime silent, for this process and those it starts."""
    os.environ.update(dict.fromkeys(_OPT_OUTS, "1"))


def load_onnxruntime() -> ModuleType:
    """Return the module onnxruntime, loaded with its telemetry switched off.

    Where somebody loaded it before us, events that are still to come are switched off.
    """
    switch_telemetry_off()
    import onnxruntime  # late: neither a timing-only run nor integers need it

    onnxruntime.disable_telemetry_events()
    loaded: ModuleType = onnxruntime
    return loaded
