"""Reads what snpe-diagview prints, of SNPE 1.x (numbered layers) and 2.x (with their names)."""

import re
from collections import Counter
from dataclasses import dataclass

from hexsim.deployment.phone_profile.profile import (
    MeasuredLayer,
    MeasuredRun,
    PhoneProfile,
    cycles_remark,
    layer_name,
    us_per_cycle,
)
from hexsim.errors import InvalidDataError
from hexsim.texts.text import lines

_SECTIONS = ("layer times:", "per-layer execution times:")
_LAYER = re.compile(
    r"(?P<id>\d{1,9})\s*:\s*(?:(?P<name>.+?)\s*:\s*)?(?P<number>\d{1,18}(?:\.\d+)?)\s*"
    r"(?P<unit>us|cycles)(?:\s*:\s*(?P<cell>\w+))?"
)
_TOTAL = re.compile(r"(?P<name>[A-Za-z][^:]*?)\s*:\s*(?P<number>\d{1,18}(?:\.\d+)?)\s*us")
_RUNTIMES = {"cpu": "cpu", "gpu": "gpu", "dsp": "dsp", "aip": "aip", "htp": "htp"}
_SECOND = re.compile(r"software library version:\s*v?2\.|flatbuffer", re.IGNORECASE)
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
    """Return the run of a text; raise InvalidDataError, with `where`, for the first mistake."""
    layers: list[_Line] = []
    totals: dict[str, float] = {}
    inside = False
    for number, line in lines(text):
        if line.lower() in _SECTIONS:
            inside = True
        elif inside and (match := _LAYER.fullmatch(line)):
            layers.append(
                _Line(
                    int(match["id"]),
                    layer_name(match["name"] or ""),
                    float(match["number"]),
                    match["unit"],
                    (match["cell"] or "").lower(),
                )
            )
        elif inside and line[0].isdecimal() and line.partition(":")[0].isdecimal():
            raise InvalidDataError(f"{where}, line {number}: '{line[:60]}' is no time of a layer")
        elif not line.startswith("-"):
            inside = inside and not line.endswith(":")
            if total := _TOTAL.fullmatch(line):
                totals[total["name"]] = float(total["number"])
    return _profile(layers, totals, bool(_SECOND.search(text)), where)


def _profile(
    layers: list[_Line], totals: dict[str, float], second: bool, where: str
) -> PhoneProfile:
    in_cycles = [layer.number for layer in layers if layer.unit == "cycles"]
    factor, remark = 0.0, ""
    if any(in_cycles):
        total_us = next((totals[name] for name in _ACCELERATOR if totals.get(name)), 0.0)
        factor = us_per_cycle(in_cycles, total_us, 0.0, where)
        remark = cycles_remark(factor)
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
        "snpe-diagview text",
        (run,) if measured else (),
        inputs_have_ids=not second,
        remark=remark,
    )
