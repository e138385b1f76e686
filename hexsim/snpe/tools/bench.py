"""`snpe_bench.py` runs the benchmark of a JSON config and writes the results as CSV and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import FILE, MODEL, Writes
from hexsim.cli._say import log, say
from hexsim.cli._signature import grouped
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.runtimes import DEFAULT_CHIP
from hexsim.snpe.bench.config import Config, read_config, settings
from hexsim.snpe.option import tools

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform


@dataclass(frozen=True)
class Device:
    """The simulated chip: the option --chip, or else the chip that the device is named after."""

    device: str | None = None
    connected: bool = False
    chip: Annotated[str | None, FILE] = None
    stack: Annotated[str | None, FILE] = None

    def platform(self, config: Config) -> Platform:
        """Read the descriptions of chip and software."""
        from hexsim.datasheets import chips
        from hexsim.deployment.platform import Platform

        if self.device and self.connected:
            raise HexsimError("-v and -a exclude each other; give one of them")
        name = self.device or config.device
        if self.chip or self.connected:
            platform = Platform.load(self.chip or DEFAULT_CHIP, self.stack)
            log("WARNING", f"device '{name}' is simulated as {platform.chip.name}")
            return platform
        try:
            return Platform.load(chips.load(name).name, self.stack)
        except HexsimError as error:
            where = "-v" if self.device else f"config '{config.path}': Devices"
            raise HexsimError(
                f"{where}: {error}; or say with --chip which one the device has"
            ) from None


@dataclass(frozen=True)
class Instead:
    """Settings that replace those of the config or add to them."""

    user_buffer: str | None = None
    perf_profile: str | None = None
    profiling_level: str | None = None
    sleep_s: int = 0
    draws: bool = False


@grouped
def snpe_bench(
    *,
    config_file: Annotated[Path, typer.Argument(), FILE],
    output_base: Annotated[Path | None, typer.Option("--output-base"), Writes(folder=True)] = None,
    device: Device,
    instead: Instead,
    float_model: Annotated[Path | None, typer.Option("--float"), MODEL] = None,
    labels: Annotated[Path | None, FILE] = None,
    json: bool = False,
) -> None:
    """Measure everything that a config requests."""
    from hexsim.files.atomic_write import outside_transaction
    from hexsim.snpe.bench.benchmark import Bench
    from hexsim.snpe.bench.files import BenchmarkResults, bench_csv, bench_json

    if output_base is not None and output_base.is_absolute():
        raise HexsimError(f"-o '{output_base}' is absolute; it takes a relative folder")
    config = read_config(config_file)
    how = settings(config, **vars(instead))
    if config.device_keys:
        keys = ", ".join(config.device_keys)
        log("WARNING", f"{keys} in the config: nothing changes, since no device is connected")
    bench = Bench(config, how, device.platform(config), float_model, labels)

    def files(results: BenchmarkResults) -> dict[str, str]:
        texts = {".csv": bench_csv(results)} | ({".json": bench_json(results)} if json else {})
        return {f"benchmark_stats_{config.name}{end}": text for end, text in texts.items()}

    with outside_transaction():  # finished runs stay even if later ones fail
        written = bench.run(output_base or Path(), files)
    say(f"Results are in {written}")


TOOLS = tools({"snpe_bench.py": snpe_bench})
