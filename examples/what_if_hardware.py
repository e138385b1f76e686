"""What other hardware would change: one constant of a chip at a time, halved and doubled.

python examples/what_if_hardware.py [MODEL]

A chip is a file of constants, and a file of your own need only say how it differs from another.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import hexsim
from hexsim.datasheets import chips

LIKE = "sd855"
CONSTANTS = ("dsp.clocks_hz.turbo", "dsp.hvx.contexts", "memory.ddr_peak_bytes_per_s")
"""What is changed; `hexsim chips show sd855` prints all that could be."""

CHIP = """\
name = "what-if"
title = "{path} times {factor:g}"
part_numbers = ["whatif"]
first_listed = "never"
runtimes = ["dsp"]
default_stack = "snpe-1.30"
like = "{like}"
[{table}]
{key} = {{ value = {value}, unit = "{unit}", source = "what if", confidence = "documented" }}
"""


def chip(path: str, factor: float) -> str:
    """The text of a chip file like `LIKE`, but for one constant."""
    constant = dict(chips.load(LIKE).quantities())[path]
    value = type(constant.value)(constant.value * factor)
    table, _, key = path.rpartition(".")
    return CHIP.format(
        path=path, factor=factor, like=LIKE, table=table, key=key, value=value, unit=constant.unit
    )


def main(name: str) -> None:
    """Print the time with each constant halved, as it is, and doubled."""
    model = hexsim.load(name)
    as_it_is = hexsim.simulate(model, LIKE).total_us / 1000
    print(f"{name} on {LIKE}, dsp, in ms")
    print(f"{'constant':30}    halved    as it is     doubled")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "what-if.toml"
        for path in CONSTANTS:
            times = []
            for factor in (0.5, 2):
                file.write_text(chip(path, factor), encoding="utf-8")
                times.append(hexsim.simulate(model, file).total_us / 1000)
            print(f"{path:30} {times[0]:9.2f} {as_it_is:11.2f} {times[1]:11.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "squeezenet1_1")
