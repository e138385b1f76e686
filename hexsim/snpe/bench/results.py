"""The rows of the results about config and device, as in SNPE; an unknown value is a space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hexsim import __version__
from hexsim.snpe.bench.config import BenchSettings, Config

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.graph.ir import Network

_UNKNOWN = " "


def configuration(
    config: Config, settings: BenchSettings, network: Network, flavours: Sequence[str], date: str
) -> list[tuple[str, str]]:
    """Return the rows about the config."""
    shapes = (f"{n}:{','.join(map(str, network.shape(n)))}" for n in network.inputs)
    return [
        ("Name", config.name),
        ("HostRootPath", config.host_root),
        ("HostResultsDir", str(config.results)),
        ("DevicePath", config.device_path),
        ("Devices", config.device),
        ("HostName", config.host_name),
        ("Runs", str(config.runs)),
        ("Model:Name", config.model_name),
        ("Model:Dlc", str(config.dlc)),
        ("Model:UDO", ""),
        ("Model:InputList", str(config.input_list or "")),
        ("Model:Data", ",".join(map(str, config.data))),
        ("Model:InputDimensions", " ".join(shapes)),
        ("Runtimes", ",".join(flavours)),
        ("Architectures", _UNKNOWN),
        ("Compiler", _UNKNOWN),
        ("C++ Standard Library", _UNKNOWN),
        ("Measurements", ",".join(config.measurements)),
        ("PerfProfile", settings.perf_profile),
        ("ProfilingLevel", settings.profiling_level),
        ("Date", date),
    ]


def device(platform: Platform) -> list[tuple[str, str]]:
    """Return the rows about the device, which is a simulated chip with its software."""
    chip = platform.chip
    known = {
        "ro.product.name": chip.name,
        "ro.product.model": f"{chip.title}, simulated by hexsim v{__version__}",
        "ro.product.board": chip.asic or _UNKNOWN,
    }
    properties = (
        *("name", "serialno", "model", "board", "brand", "device", "manufacturer", "cpu.abi"),
    )
    rows = [f"ro.product.{name}" for name in properties]
    rows += [f"ro.build.{name}" for name in ("au_rev", "description", "version.sdk")]
    rows += ["Meta_Build_ID", "OS_Type"]
    return [(row, known.get(row, _UNKNOWN)) for row in rows]


def version(platform: Platform) -> str:
    """Return the release as the tools print it, without the prefix of SNPE's own releases."""
    return platform.stack.name.removeprefix("snpe-")
