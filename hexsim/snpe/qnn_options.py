"""Options that several tools of QNN share, and the runtimes that its libraries stand for."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated

import typer

from hexsim.errors import HexsimError, unknown

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


_DLC_LIBRARIES = ("libQnnModelDlc.so", "QnnModelDlc.dll")
ModelLibrary = Annotated[str | None, typer.Option("--model-library")]


def check_model_library(library: str | None) -> None:
    """Raise HexsimError unless a library, which may have a path, is that for .dlc files."""
    if library is not None and PurePath(library).name not in _DLC_LIBRARIES:
        raise HexsimError(
            f"--model {library}: a library of a network is code for a device; convert with "
            f"qairt-converter, and give --dlc_path, alone or beside {_DLC_LIBRARIES[0]}"
        )
