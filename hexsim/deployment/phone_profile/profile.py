"""A profile that a phone gave: its runs, and the time of every layer."""

import re
from collections.abc import Mapping, Sequence

from hexsim.errors import HexsimError
from hexsim.records import dataclass, field
from hexsim.texts.figures import given
from hexsim.texts.trees import is_quantity

_OPERATION = re.compile(r"[ :]OpId_\d+")
_TOKEN = re.compile(r"_token_\d+(?:_\d+)?$")
"""The end that the QNN converter of ONNX Runtime gives to the names of nodes it splits."""
_CYCLES = " (cycles)"


@dataclass(frozen=True)
class MeasuredLayer:
    """A layer of a profile in microseconds: the mean, and the extremes where the file has them.

    `name` is empty, or `id` is None, where the file does not say it; `type` is the tool's word.
    """

    name: str
    us: float
    id: int | None = None
    type: str = ""
    low_us: float | None = None
    high_us: float | None = None


@dataclass(frozen=True)
class MeasuredRun:
    """The layers of a network on one runtime, and the totals of the file in microseconds.

    `runtime` is the name of one of our runtimes; `runtime` and `buffer` are empty if unknown.
    """

    runtime: str
    layers: tuple[MeasuredLayer, ...]
    buffer: str = ""
    totals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PhoneProfile:
    """All runs of a file; `format` names the tool, `remark` says what was computed on reading.

    The numbers of layers begin with the inputs in SNPE 1.x (`inputs_have_ids`), not in 2.x.
    `perf_profile` is empty if unknown.
    """

    format: str
    runs: tuple[MeasuredRun, ...]
    perf_profile: str = ""
    inputs_have_ids: bool = True
    remark: str = ""


def layer_name(identifier: str) -> str:
    """Return the name of the layer in the identifier of an operator, as `x:OpId_18 (cycles)`."""
    name = _OPERATION.sub("", identifier.strip().removesuffix(_CYCLES)).strip()
    return _TOKEN.sub("", name)


def us_per_cycle(
    cycles: Sequence[float], total_us: float, where: str, total_cycles: float = 0.0
) -> tuple[float, str]:
    """Return the microseconds that stand for one cycle of layers which took `cycles`, in words too.

    Operators of the tensor processor overlap, so their cycles are no durations. They count as
    shares: of the accelerator's `total_cycles` if the file has them, else of their sum. Raises
    HexsimError without the accelerator's `total_us`.
    """
    all_cycles = total_cycles or sum(cycles)
    require_time("the accelerator", total_us, where)
    require_time("all of its layers", all_cycles, where, "cycles")
    if not total_us or not all_cycles:
        raise HexsimError(
            f"{where} has the layers in cycles and no accelerator time in microseconds, so they "
            "have no durations; keep the lines of the totals in the file"
        )
    remark = (
        f"layers were measured in cycles; {given(1 / (total_us / all_cycles))} of them count as a "
        "microsecond, by the accelerator's own total"
    )
    return total_us / all_cycles, remark


def require_time(what: str, number: float, where: str, unit: str = "us") -> None:
    """Raise HexsimError, with `where`, for a number that is no time of anything."""
    if not is_quantity(number) or number < 0:
        raise HexsimError(f"{where}: {what} took {number:g} {unit}, which is no time")
