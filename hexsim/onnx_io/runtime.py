"""Imports onnxruntime with its telemetry switched off; no other module imports it.

From 1.29 on its Linux builds send events to the vendor, store an identifier of the device and
look up host names, unless an environment variable is set before the library is loaded. No command
of hexsim may open a connection or write outside its outputs and caches.
Source: https://github.com/microsoft/onnxruntime/pull/27379 and .../pull/29843.
"""

import os
from types import ModuleType

_OPT_OUTS = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Names of the variable in different releases."""


def switch_telemetry_off() -> None:
    """Set the variables that switch telemetry off, for this process and those it starts."""
    os.environ.update(dict.fromkeys(_OPT_OUTS, "1"))


def load_onnxruntime() -> ModuleType:
    """Return the module onnxruntime, loaded with its telemetry switched off.

    If it was loaded before, later events are switched off.
    """
    switch_telemetry_off()
    import onnxruntime  # late: neither a timing-only run nor integers need it

    onnxruntime.disable_telemetry_events()
    loaded: ModuleType = onnxruntime
    return loaded
