"""Puts a new value of a constant into the chip and stack files that state it."""

from __future__ import annotations

import re
from pathlib import Path

from hexsim.datasheets import chips, stacks
from hexsim.files.atomic_write import write_text
from hexsim.studies.calibration.prediction import Parameter

_SHARED = "shared.toml"


def restate(parameter: Parameter, value: float) -> None:
    """Change the value in every file that states the constant; its other keys stay.

    A datasheet that says nothing of its own takes the constant from the shared file of its folder,
    and one without a file from there or from the datasheet that it is like, which is restated too.
    """
    for datasheet in sorted(parameter.datasheets):
        module = chips if datasheet in chips.names() else stacks
        folder = Path(str(module.__file__)).parent
        for file in (folder / f"{datasheet}.toml", folder / _SHARED):
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            changed = restated(text, parameter.path, value)
            if changed is not None:
                write_text(file, changed)
                break


def restated(text: str, path: str, value: float) -> str | None:
    """Return a TOML text with the constant at the dotted `path` changed, None if it has none."""
    *tables, key = path.split(".")
    here = ""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if heading := re.match(r"\[(.+)\]", line):
            here = heading[1]
        elif here == ".".join(tables) and re.match(rf"{re.escape(key)} *= *{{", line):
            lines[number] = re.sub(r"value = [^,]+", f"value = {_number(value)}", line, count=1)
            return "".join(lines)
    return None


def _number(value: float) -> str:
    """Write a number as the files do: 18_000 and 55e-6."""
    if value >= 1 and value == int(value):
        return f"{int(value):_}" if value >= 10_000 else f"{int(value)}"
    if value >= 0.001:
        return f"{value:g}"
    for prefix in (-6, -9, -12):
        if value >= 10.0**prefix:
            return f"{value / 10.0**prefix:g}e{prefix}"
    return f"{value:g}"
