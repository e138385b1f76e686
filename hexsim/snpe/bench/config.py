"""The config of a benchmark: the JSON file that SNPE's snpe_bench.py reads, with the same keys.

Relative paths start from the current folder, as in SNPE. Keys about a device are read but change
nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, cast, get_args

from hexsim.errors import HexsimError, InvalidDataError, unknown
from hexsim.records import dataclass
from hexsim.snpe.option import Level
from hexsim.texts.text import lines, read_text, shortened, visible
from hexsim.texts.trees import parse_json

PROFILES = (
    *("default", "balanced", "high_performance", "sustained_high_performance", "burst"),
    *("power_saver", "low_power_saver", "high_power_saver", "low_balanced", "system_settings"),
)
"""Performance profiles by SNPE's names."""
Measurement = Literal["timing", "mem"]
_T = TypeVar("_T")

MOST_RUNS = 1000
"""Largest number of runs; more would bring nothing new, because runs are alike."""

_LONGEST_NAME = 100

_REQUIRED = (
    *("Name", "HostRootPath", "HostResultsDir", "DevicePath", "Devices", "Runs", "Model"),
    *("Runtimes", "Measurements"),
)
_OPTIONAL = (
    *("HostName", "CpuFallback", "BufferTypes", "UBFloatOutput", "PerfProfile"),
    *("ProfilingLevel", "PlatformOptions"),
)
_OF_MODEL = ("Name", "Dlc", "InputList", "Data", "RandomInput", "UDO")
_ONLY_DEVICE = ("DevicePath", "HostName", "PlatformOptions")


@dataclass(frozen=True)
class Config:
    """The content of a config; `device_keys` are its keys that change nothing here.

    `random_inputs` replace `input_list` and `data`. `buffers` None selects all buffers that
    a runtime may have. `text` is the file as it was read.
    """

    path: Path
    text: str
    name: str
    host_root: str
    results: Path
    device_path: str
    device: str
    host_name: str
    runs: int
    model_name: str
    dlc: Path
    input_list: Path | None
    data: tuple[Path, ...]
    random_inputs: int
    runtimes: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    cpu_fallback: bool
    buffers: tuple[str, ...] | None
    float_outputs: bool
    perf_profile: str | None
    profiling_level: str | None
    device_keys: tuple[str, ...]


@dataclass(frozen=True)
class BenchSettings:
    """The settings of all runs, from the command line or else from the config.

    With `draws` each run has other constants. `sleep_s` is only reported in the results; on
    a device it lets the phone cool down between runs.
    """

    perf_profile: str
    profiling_level: Level
    buffers: tuple[str, ...] | None
    sleep_s: int
    draws: bool


def settings(
    config: Config,
    *,
    perf_profile: str | None = None,
    profiling_level: str | None = None,
    user_buffer: str | None = None,
    sleep_s: int = 0,
    draws: bool = False,
) -> BenchSettings:
    """Combine command line and config; raise HexsimError for an unknown profile or level."""
    profile = perf_profile or config.perf_profile or "high_performance"
    level = profiling_level or config.profiling_level or "basic"
    if profile not in PROFILES:
        raise unknown("PerfProfile", profile, PROFILES)
    if level not in get_args(Level):
        raise unknown("ProfilingLevel", level, get_args(Level))
    buffers = config.buffers if user_buffer is None else (f"ub_{user_buffer}",)
    return BenchSettings(profile, cast(Level, level), buffers, sleep_s, draws)


def read_config(path: Path) -> Config:
    """Read the config at `path`; raise HexsimError naming the key that is wrong."""
    try:
        text = read_text(path, "config", "give the JSON config of snpe_bench.py")
        tree = parse_json(text, f"config '{path}'", as_written=True)  # paths
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    return _Reader(path, text, tree).config()


class _Reader:
    def __init__(self, path: Path, text: str, tree: Any) -> None:
        self._path = path
        self._text = text
        if not isinstance(tree, dict):
            self._fail("it is no object with keys")
        self._top: Mapping[str, Any] = tree

    def config(self) -> Config:
        top = self._top
        known = (*_REQUIRED, *_OPTIONAL)
        for key in top:
            if key not in known:
                self._fail(f"Found invalid top level key: {key}; known: {', '.join(known)}")
        for key in _REQUIRED:
            if top.get(key) in (None, "", [], {}):
                self._fail(f"Missing value for {key}")
        model = self._model()
        devices = self._words(top, "Devices")
        if len(devices) != 1:
            self._fail(f"Devices has {len(devices)} entries; give exactly one")
        return Config(
            path=self._path,
            text=self._text,
            name=self._file_name("Name"),
            host_root=self._word(top, "HostRootPath"),
            results=Path(self._word(top, "HostResultsDir")),
            device_path=self._word(top, "DevicePath"),
            device=devices[0],
            host_name=self._word(top, "HostName", "localhost"),
            runs=self._count(top, "Runs", MOST_RUNS),
            **model,
            runtimes=self._words(top, "Runtimes"),
            measurements=self._measurements(),
            cpu_fallback=self._flag("CpuFallback"),
            buffers=self._words(top, "BufferTypes") if top.get("BufferTypes") else None,
            float_outputs=self._flag("UBFloatOutput"),
            perf_profile=self._word(top, "PerfProfile", "") or None,
            profiling_level=self._word(top, "ProfilingLevel", "") or None,
            device_keys=tuple(key for key in _ONLY_DEVICE if top.get(key)),
        )

    def _model(self) -> dict[str, Any]:
        model = self._top["Model"]
        if not isinstance(model, dict):
            self._fail("Model is no object with keys")
        for key in model:
            if key not in _OF_MODEL:
                self._fail(f"Found invalid key in Model: {key}; known: {', '.join(_OF_MODEL)}")
        if model.get("UDO"):
            self._fail(
                "Model:UDO: operators of one's own are not simulated; leave them out of the network"
            )
        random = model.get("RandomInput")
        needed = ("Name", "Dlc", *(() if random else ("InputList", "Data")))
        for key in needed:
            if not model.get(key):
                self._fail(f"Missing value for Model:{key}")
        listed = None if random else Path(self._word(model, "InputList"))
        return {
            "model_name": visible(self._word(model, "Name")),
            "dlc": Path(self._word(model, "Dlc")),
            "input_list": listed,
            "data": () if random else tuple(map(Path, self._words(model, "Data"))),
            "random_inputs": self._count(model, "RandomInput", 10**6) if random else 0,
        }

    def _measurements(self) -> tuple[Measurement, ...]:
        words = self._words(self._top, "Measurements")
        for word in words:
            if word not in get_args(Measurement):
                self._fail(f'"{word}" is unknown measurement; known: timing, mem')
        return tuple(cast(Measurement, word) for word in dict.fromkeys(words))

    def _file_name(self, key: str) -> str:
        name = self._word(self._top, key)
        if "/" in name or not name.isprintable() or len(name) > _LONGEST_NAME:
            self._fail(
                f"{key} {shortened(repr(name))} cannot be part of a file's name; give at most "
                f"{_LONGEST_NAME} letters without slashes"
            )
        return name

    def _word(self, tree: Mapping[str, Any], key: str, default: str | None = None) -> str:
        return self._of(tree.get(key, default), key, str, "a text in quotes")

    def _words(self, tree: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Return a list of texts without blanks around them; the value may be a single text."""
        value = tree.get(key)
        items = value if isinstance(value, list) else [value]
        texts = [self._of(item, key, str, "a list of texts").strip() for item in items]
        return tuple(dict.fromkeys(texts))

    def _count(self, tree: Mapping[str, Any], key: str, most: int) -> int:
        value = tree.get(key)
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            value = int(value[:20])
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            self._fail(f"{key} is {shortened(repr(value))}; give a whole number from 1 to {most}")
        return value

    def _flag(self, key: str) -> bool:
        value = self._top.get(key, False)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        return self._of(value, key, bool, "true or false")

    def _of(self, value: Any, key: str, kind: type[_T], what: str) -> _T:
        if not isinstance(value, kind):
            self._fail(f"{key} is {shortened(repr(value))}; give {what}")
        if "\0" in str(value):
            self._fail(f"{key} holds a NUL, which no name has; take it out")
        return value

    def _fail(self, what: str) -> NoReturn:
        raise HexsimError(f"config '{self._path}': {what}")


def place(path: Path, data: Sequence[Path]) -> Path:
    """Return the place of a path of the list; a missing file is left for its reader to report."""
    if not path.exists():
        for source in data:
            copied = source.parent / path
            if path.parts[:1] == (source.name,) and copied.exists():
                return copied
    return path


def as_found(text: str, data: Sequence[Path]) -> str:
    """Return the text of a list with its paths as they can be read from the current folder."""
    return "".join(f"{line}\n" for line in _lines(text, data))


def _lines(text: str, data: Sequence[Path]) -> Iterator[str]:
    for _, line in lines(text):
        if line[0] in "#%":
            yield line
            continue
        words = (word.rpartition(":=") for word in line.split())
        yield " ".join(f"{name}{mark}{place(Path(file), data)}" for name, mark, file in words)
