"""Published measurements of real devices, for the calibration and for comparison in tables.

`python -m benchmarks.layer_times` writes layer_factors.csv: how wrong simulated times of layers
have been, by class of layer. It compares the times of single layers in layer_latency.csv, which are
of one chip and one release, with simulated ones.

A row of measured_answers.csv is one network on one runtime of a device: right, wrong, or none, as
the program crashed. The networks were trained and judged by their publisher, so a row is no
statement about the made-up weights of a built-in network. Left out: how wrong an answer was, which
is not published. A row of measured_latency.csv is one published number; networks and chips on which
the model is tested are not in this file.
"""

import csv
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

from hexsim.records import dataclass
from hexsim.texts.fields import Part, about

_Row = TypeVar("_Row")
Record = Mapping[str, str]
"""A line of a file, by the names of its columns."""


def read_rows(file: str, kind: type[_Row], **others: Callable[[Record], Any]) -> tuple[_Row, ...]:
    """Return all rows of a file, in its order.

    A field of `kind` is the column of its name, read by the field's type (str, int or float);
    `others` make fields that are no columns, or need more than that.
    """
    read = get_type_hints(kind)
    names = [name for name in read if name not in others]
    with Path(__file__).with_name(file).open(encoding="utf-8", newline="") as lines:
        return tuple(
            kind(
                **{name: read[name](record[name]) for name in names},
                **{name: of(record) for name, of in others.items()},
            )
            for record in csv.DictReader(lines)
        )


FACTORS_FILE = Path(__file__).with_name("layer_factors.csv")


@dataclass(frozen=True)
class LayerFactor:
    """The median factor of the measured layers of one class on one runtime.

    A factor is the ratio of simulated and measured time or its reciprocal, whichever is larger.
    """

    runtime: str
    layer_class: str
    layers: int
    factor: float


@functools.cache
def layer_factors() -> tuple[LayerFactor, ...]:
    """Read the factors, in file order."""
    return read_rows(FACTORS_FILE.name, LayerFactor, layer_class=lambda record: record["class"])


EXPECTED_ERRORS = Path(__file__).with_name("expected_errors.csv")
ANY_CHIP = "any"
"""In place of a chip: all chips together, each left out."""
FEWEST = 5
"""Measured times of a chip of which half and nine in ten say something (our choice)."""


@dataclass(frozen=True)
class ExpectedError:
    """How wrong times of a class were: of networks (or language models) that were left out.

    A class is a runtime on a chip by a release, or one `precision` of it. `median` and `most` (nine
    in ten) are sizes of relative errors, `bias` is the median with its sign. For `ANY_CHIP` each of
    `rows` chips was left out, and its typical error counts once.
    """

    chip: str
    stack: str
    runtime: str
    precision: str
    rows: int
    median: float
    most: float
    bias: float

    def __str__(self) -> str:
        if self.chip == ANY_CHIP:
            return (
                f"half of {self.rows} chips, each predicted without its own times, were within "
                f"{self.median:.0%}, nine in ten within {self.most:.0%}; fewer than {FEWEST} times "
                "of this one are published"
            )
        return (
            f"times of this chip have been within {self.median:.0%} (half of {self.rows} measured) "
            f"and {self.most:.0%} (nine in ten)"
        )


@functools.cache
def expected_errors() -> tuple[ExpectedError, ...]:
    """Read every class; `python -m benchmarks.accuracy_of_times --copied` writes the file."""
    return read_rows(EXPECTED_ERRORS.name, ExpectedError)


def expected_error(
    chip: str, stack: str, runtime: str, precision: str = ""
) -> ExpectedError | None:
    """Return the error of the class of a chip's times, or of any chip left out if few are measured.

    `precision` is "w8a8" or "w8a16" of codes on a tensor processor, "tokens" or "block" of a
    language model (its runtime is "llm"), "" for all together. None if nothing of the runtime was
    measured on several chips.
    """
    known = {(row.chip, row.stack, row.runtime, row.precision): row for row in expected_errors()}
    own = known.get((chip, stack, runtime, precision))
    if own is not None and own.rows >= FEWEST:
        return own
    return known.get((ANY_CHIP, "", runtime, precision))


FAULT = "segmentation fault"
"""Outcome of a program that crashed, so that it has neither answers nor times."""


class DeviceAnswer(Part):
    """What is published of the answers of the trained network on a device."""

    chip: str
    stack: str
    model: str
    runtime: str
    outcome: Annotated[str, about("right, wrong or segmentation fault")]
    confidence: Annotated[str, about("documented or inferred")]
    note: str = ""
    source: str = ""

    def __str__(self) -> str:
        return self.outcome + ("?" if self.confidence == "inferred" else "")


@functools.cache
def outcomes() -> tuple[DeviceAnswer, ...]:
    """Read every row, in file order."""
    return read_rows("measured_answers.csv", DeviceAnswer)


def outcome(model: str, chip: str, stack: str, runtime: str) -> DeviceAnswer | None:
    """Return the row of a built-in network on a runtime; None if nothing is published."""
    key = (model, chip, stack, runtime)
    matching = (r for r in outcomes() if (r.model, r.chip, r.stack, r.runtime) == key)
    return next(matching, None)


_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Measurement:
    """One published latency.

    `model` is the built-in network with the measured structure. `stack` is the name
    of a stack file, except for software without one. `perf_profile` is None if the
    stack's own default was used, or is assumed to have been used.
    `idle_ms` is the idle time before the call, `buffer` the type of its user buffers; both are
    None if unknown. Buffers are inferred: the rules of MLPerf Inference v0.5 leave conversion to
    UINT8 untimed and let inputs lie in memory that the accelerator sees.
    `input_nhwc` is the input shape, `resolution_ms` the rounding or spread of the number.
    """

    chip: str
    runtime: str
    stack: str
    network: str
    network_variant: str
    model: str
    input_nhwc: tuple[int, ...]
    batch: int
    idle_ms: float | None
    perf_profile: str | None
    buffer: str | None
    statistic: str
    latency_ms: float
    resolution_ms: float
    note: str
    source: str

    @property
    def key(self) -> tuple[str, ...]:
        """What tells rows apart: network, chip, stack, runtime, statistic, idle time, buffers."""
        given = (self.model, self.chip, self.stack, self.runtime, self.statistic)
        return (*given, str(self.idle_ms), str(self.buffer), f"{self.latency_ms:g}")

    @property
    def forward(self) -> bool:
        """Whether the number is the forward propagate time, not the wall clock of the call."""
        return self.statistic == "forward_propagate"


@dataclass(frozen=True)
class MeasuredLayer(Measurement):
    """One latency of a layer, from a profile of its network; `layer_class` is that of its call."""

    layer: str
    layer_class: str


@functools.cache
def rows() -> tuple[Measurement, ...]:
    """Read every row, in file order."""
    return read_rows(
        "measured_latency.csv",
        Measurement,
        input_nhwc=lambda record: tuple(map(int, record["input_nhwc"].split("x"))),
        idle_ms=lambda record: _unless(record["idle_ms_before_call"], "unknown", float),
        perf_profile=lambda record: _unless(record["perf_profile"], "", str),
        buffer=lambda record: _unless(record["buffer"], "unknown", str),
    )


def find(
    model: str, chip: str, stack: str, runtime: str, *, forward: bool
) -> tuple[Measurement, ...]:
    """Return the rows of a built-in network, shortest first; a published range has two rows."""
    key = (model, chip, stack, runtime, forward)
    matching = (
        row for row in rows() if (row.model, row.chip, row.stack, row.runtime, row.forward) == key
    )
    return tuple(sorted(matching, key=lambda row: row.latency_ms))


def _unless(text: str, unknown: str, read: Callable[[str], _Value]) -> _Value | None:
    return None if text == unknown else read(text)
