"""Reads what snpe-diagview prints, of SNPE 1.x (numbered layers) and 2.x (with their names)."""

import re
from collections import Counter

from hexsim.deployment.phone_profile.profile import (
    MeasuredLayer,
    MeasuredRun,
    PhoneProfile,
    layer_name,
    us_per_cycle,
)
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.texts.text import lines

_SECTIONS = ("layer times:", "per-layer execution times:")
_TIME = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,18})?)\s*+(?P<unit>us|cycles)")
_CELL = re.compile(r"\w++")
_RUNTIMES = {"cpu": "cpu", "gpu": "gpu", "dsp": "dsp", "aip": "aip", "htp": "htp"}
_SECOND = re.compile(r"software library version:\s*+v?2\.|flatbuffer", re.IGNORECASE)
"""What the texts of SNPE 2.x say, in which the inputs have no numbers."""
_ACCELERATOR = ("Accelerator Time", "Snpe Accelerator Time", "RPC Execute Time")
"""The totals that layers in cycles are shares of; the first that is there counts."""


@dataclass(frozen=True)
class _Line:
    id: int
    name: str
    number: float
    unit: str
    cell: str


def is_diagview(text: str) -> bool:
    """Return True if `text` holds lines that only snpe-diagview prints."""
    lower = text.lower()
    return any(
        words in lower for words in (*_SECTIONS, "log file created:", "total inference time:")
    )


def read_diagview(text: str, where: str) -> PhoneProfile:
    """Return the run of a text; raise HexsimError, with `where`, for the first mistake."""
    layers: list[_Line] = []
    totals: dict[str, float] = {}
    inside = False
    for number, line in lines(text):
        if line.lower() in _SECTIONS:
            inside = True
        elif inside and (layer := _layer(line)) is not None:
            layers.append(layer)
        elif inside and line[0].isdecimal() and line.partition(":")[0].isdecimal():
            raise HexsimError(f"{where}, line {number}: '{line[:60]}' is no time of a layer")
        elif not line.startswith("-"):
            inside = inside and not line.endswith(":")
            name, _, number_text = line.partition(":")
            total = _TIME.fullmatch(number_text.strip())
            if total is not None and total["unit"] == "us" and line[0].isalpha():
                totals[name.rstrip()] = float(total["number"])
    return _profile(layers, totals, bool(_SECOND.search(text)), where)


def _layer(line: str) -> _Line | None:
    """Return the layer in `3: conv1:OpId_18 (cycles) : 70 us : DSP`, whose name may have colons.

    Name and runtime may be missing. Any other line gives None.
    """
    number, *fields = (field.strip() for field in line.split(":"))
    cell = ""
    if len(fields) > 1 and _TIME.fullmatch(fields[-2]) and _CELL.fullmatch(fields[-1]):
        cell = fields.pop()
    time = _TIME.fullmatch(fields[-1]) if fields else None
    if time is None or not (number.isdecimal() and len(number) < 10):
        return None
    name = line.partition(":")[2].rsplit(":", 2 if cell else 1)[0] if len(fields) > 1 else ""
    return _Line(int(number), layer_name(name), float(time["number"]), time["unit"], cell.lower())


def _profile(
    layers: list[_Line], totals: dict[str, float], second: bool, where: str
) -> PhoneProfile:
    in_cycles = [layer.number for layer in layers if layer.unit == "cycles"]
    factor, remark = 0.0, ""
    if any(in_cycles):
        total_us = next((totals[name] for name in _ACCELERATOR if totals.get(name)), 0.0)
        factor, remark = us_per_cycle(in_cycles, total_us, where)
    measured = tuple(
        MeasuredLayer(
            layer.name, layer.number * (factor if layer.unit == "cycles" else 1.0), layer.id
        )
        for layer in layers
    )
    cells = Counter(layer.cell for layer in layers if layer.cell in _RUNTIMES and layer.number)
    runtime = _RUNTIMES[cells.most_common(1)[0][0]] if cells else ""
    run = MeasuredRun(runtime, measured, totals=totals)
    return PhoneProfile(
        "snpe-diagview text", (run,) if measured else (), inputs_have_ids=not second, remark=remark
    )
