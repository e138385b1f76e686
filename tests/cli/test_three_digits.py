"""What commands print of measured and simulated values has three significant digits."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from tests.accuracy import culprits
from tests.cli.conftest import Done

_REAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]\d+)?(?![\w.])")


def digits(number: str) -> int:
    mantissa = number.partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("0"))


def without_column(text: str, heading: str) -> str:
    """The text without the cells of one column of its table."""
    lines = text.splitlines()
    at = next(at for at, line in enumerate(lines) if heading in line.split())
    columns = [column.span() for column in re.finditer("-+", lines[at + 1])]
    (place,) = [span for span in columns if lines[at][slice(*span)].strip() == heading]
    return "\n".join(line[: place[0]] + line[place[1] :] for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        "bench --model n.dlc --chip sd855 --runtime cpu --timing-only",
        "profile n.dlc --chip sd855 --runtime dsp",
        "partition n.dlc --chip sd855",
        "profile n.dlc --chip sd855 --roofline",
        "throughput n.dlc --chip sd855 --runtime cpu",
        "validate n.dlc --chip sd855",
        "n.dlc --chip sd855 --runtime dsp",
    ],
)
def test_no_value_has_more(command: Callable[[str], Done], tmp_path: Path, line: str) -> None:
    dlc.write(tmp_path / "n.dlc", Model(culprits.network("outlier")))
    done = command(line)
    assert done.code == 0, done.err
    text = without_column(done.out, "cosine") if "cosine" in done.out else done.out
    values = _REAL.findall(text)
    assert values
    assert [value for value in values if digits(value) > 3] == []
