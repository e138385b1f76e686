"""Options that several tools of QNN share, and the runtimes that its libraries stand for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from hexsim.errors import unknown
from hexsim.snpe.option import Ignored, Option, RefusedOption

LIBRARIES: Mapping[str, str] = {
    "libQnnCpu.so": "cpu",
    "libQnnGpu.so": "gpu",
    "libQnnDsp.so": "dsp",
    "libQnnDspV66Stub.so": "dsp",
    "libQnnHta.so": "aip",
    "libQnnHtp.so": "htp",
}
"""The runtime of each library of a backend, by the names of SNPE's tools."""


def runtime_of(flag: str) -> str:
    """Return the runtime of a flag: its own name, or that of a backend's library, by its path."""
    if not PurePath(flag).suffix and "/" not in flag:
        return flag
    library = PurePath(flag).name
    if library not in LIBRARIES:
        raise unknown("library of --backend", library, LIBRARIES)
    return LIBRARIES[library]


MODEL_LIBRARY = Option(
    ("--model",), ("FILE",), "Library of a network.",
    RefusedOption(
        "a library of a network is code for a device; convert with qairt-converter and give "
        "--dlc_path"
    ),
)  # fmt: skip
CONFIG_FILE = Option(
    ("--config_file",), ("FILE",), "Settings of the backend's extensions.",
    Ignored("--chip and --perf_profile say what they say of chip and clocks"),
)  # fmt: skip
