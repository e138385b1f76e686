"""`--config_file` of QNN's tools: the VTCM that a graph may use, from the settings of a backend.

The file names a second one, as `{"backend_extensions": {"config_file_path": "htp.json"}}`, and that
has `{"graphs": [{"graph_names": ["net"], "vtcm_mb": 4}]}`, where early releases have one object in
the place of the list. Relative paths start from the current folder. A .dlc file has one graph, so
names of graphs are not compared. Other settings change nothing, which is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hexsim.cli._files import ReadOption
from hexsim.cli._say import log
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.records import dataclass
from hexsim.texts.text import read_text
from hexsim.texts.trees import parse_json

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = read_text(path, "config", "give the JSON settings of a backend")
        tree = parse_json(text, f"config '{path}'", as_written=True)  # paths
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    return _object(tree, f"config '{path}'")


def _object(tree: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(tree, dict):
        raise HexsimError(f"{where} is no object with keys")
    return tree


def _settings_file(path: Path) -> Path | None:
    """Return the file of the backend that the file at `path` names, if it names one."""
    top, where = _read(path), f"config '{path}'"
    named = _object(top.get("backend_extensions", {}), f"{where}: 'backend_extensions'")
    settings = named.get("config_file_path", "")
    if not isinstance(settings, str) or (not settings and "graphs" in top):
        raise HexsimError(f"{where}: 'config_file_path' of 'backend_extensions' names no file")
    return Path(settings) if settings else None


def _named_files(path: Path) -> Iterator[Path]:
    with suppress(HexsimError):  # the command itself reports it
        if settings := _settings_file(path):
            yield settings


def vtcm_mb(path: Path) -> float | None:
    """Return the VTCM in MB that the config at `path` gives a graph; None and 0 are all of it.

    Raises HexsimError, naming file and key, for files that cannot be read or contradict themselves.
    """
    settings = _settings_file(path)
    if settings is None:
        return None
    top, where = _read(settings), f"config '{settings}'"
    stated = top.get("graphs", [])
    listed = stated if isinstance(stated, list) else [stated]
    graphs = [_object(graph, f"{where}: a graph of 'graphs'") for graph in listed]
    keys = dict.fromkeys((*top, *(key for graph in graphs for key in graph)))
    if unused := [key for key in keys if key not in ("graphs", "graph_names", "vtcm_mb")]:
        log(
            "WARNING",
            f"{', '.join(unused)} of --config_file: changes nothing; --chip and "
            "--perf_profile select chip and clocks",
        )
    sizes = {f"{graph['vtcm_mb']}": graph["vtcm_mb"] for graph in graphs if "vtcm_mb" in graph}
    if len(sizes) > 1:
        raise HexsimError(
            f"{where}: a network is one graph; give one vtcm_mb, not {', '.join(sizes)}"
        )
    size = next(iter(sizes.values()), 0)
    if isinstance(size, bool) or not isinstance(size, int | float):
        raise HexsimError(f"{where}: 'vtcm_mb' is no number of MB; give one, or 0 for all")
    return size


@dataclass(frozen=True)
class ConfiguredHardware(Hardware):
    """A chip, its software, and the settings of its backend."""

    config_file: Annotated[Path | None, ReadOption(_named_files)] = None

    def platform(self, graphs: int = 1) -> Platform:
        """Read their descriptions; `graphs` run at a time on a tensor processor."""
        size = None if self.config_file is None else vtcm_mb(self.config_file)
        return super().platform(graphs).with_vtcm(size, graphs)
