"""How well the tensor processor's model does beside two that know less: docs/results/htp.md.

python -m benchmarks.htp_scoreboard FOLDER    prints the tables and the fitted constants

`python -m benchmarks.accuracy_of_times FOLDER --write` writes them, with all that is made of them.
FOLDER has the networks of the rows as ONNX files, resnet18.onnx and so on, of which only the
structure counts; they are public, but not ours; `benchmarks.htp_networks` adds those that it can
build. Rows are those of htp_latency.csv that QNN or
SNPE ran and that have a file there. Those of SNPE are of an application, whose own part of a call
is in them: they are simulated with a call in which both sides block.
Every prediction is of a network that its constants have not seen: multiply-adds plus a constant,
a roofline plus a constant (the slower of multiply-adds and weights), both fitted for each chip and
precision, and the model with its calibrated constants fitted again without the network, one set
for all chips and precisions. Chips of which two networks are measured have a pace, which is fitted
to the rows that are left, and to none if the chip is left out. The last table leaves out a chip.
One measured network that is scaled between chips (each of the others in turn) is no model, but what
a user could do.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import hexsim
from benchmarks.htp_schedule import scaled, schedule
from benchmarks.measured.htp import HtpRow, htp_rows
from benchmarks.pages import RESULTS
from hexsim.datasheets import chips, stacks
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.htp.compiler import HtpOperation, compile_graph
from hexsim.htp.machine import HtpMachine
from hexsim.planning.plan import KernelCall
from hexsim.runtimes import Runtime

PAGE = RESULTS / "htp.md"
CHIP = "qcs8550"
STACK = "qnn-2.43"
FITTED = (
    "htp.hmx_share",
    "htp.vector_clk",
    "htp.broadcast_vector_clk",
    "htp.row_vector_clk",
    "htp.regrouped_vector_clk",
)
OF_RELEASE = ("htp.operator_clk",)
RUNTIMES = ("qnn", "snpe")
PRECISIONS = ("float", "w8a8", "w8a16")
_PUBLIC_CLOCK_HZ = {"sd8gen1": 1.4e9}
"""What is public where a chip's clock is fitted: that of SM8475, as measured on it."""
_NEAREST = {
    "sd8gen1": "sd8plusgen1",
    "sd8plusgen1": "sd8gen1",
    "sd7plusgen2": "sd8gen1",
    "sd7gen1": "sd8gen1",
    "sd7gen3": "sd7gen1",
    "sd8gen4": "sd8elitegen5",
    "qcs8275": "qcs9075",
    "sd8elitegen5": "sdx2elite",
    "sdx2elite": "sd8elitegen5",
}
"""The chip of the same silicon, or of the same generation and class, whose pace a chip has that is
left out: what the public constants of both do not say is taken to be the same."""
_MANY = ("sd8gen1", "qcs8550", "sd8gen3", "qcm6490")
"""Chips of which many networks are measured; constants are fitted to these alone."""
_LEAST_ROWS = 2
"""Rows of the same chip and precision to which a line is fitted."""
_PACES, _HALVINGS = (0.1, 10.0), 16
"""Where a pace is sought, and how often the interval is halved."""
Logs = npt.NDArray[np.float64]
_STEP, _ROUNDS, _LIMIT = 1e-3, 3, 0.25


@dataclass(frozen=True)
class Work:
    """A network in a precision, as both the model and the simpler ones need it."""

    network: Network
    calls: tuple[KernelCall, ...]

    @property
    def macs(self) -> float:
        """Multiply-adds."""
        return float(sum(call.macs for call in self.calls))

    @property
    def weight_bytes(self) -> float:
        """Bytes of the parameters."""
        return float(sum(call.parameter_bytes for call in self.calls))


def folder() -> Path:
    """Where the networks are, as it was called."""
    if not (sys.argv[1:] and Path(sys.argv[1]).is_dir()):
        raise SystemExit("give the folder with the networks of the rows")
    return Path(sys.argv[1])


def _file(network: str) -> str:
    return network.replace("/", "_")


@functools.cache
def work_of(name: str, precision: str) -> Work:
    """Plan a network of the rows."""
    model = hexsim.load(folder() / f"{_file(name)}.onnx")
    runtime: Runtime = "htp_fp16" if precision == "float" else "htp"
    plan = Deployment(model, Platform.load(CHIP), runtime).plan
    calls = tuple(plan.calls())
    if precision == "w8a16":
        calls = tuple(replace(call, activation_bits=16) for call in calls)
    return Work(plan.network, calls)


@functools.cache
def _compiled(name: str, precision: str, vtcm_bytes: int) -> tuple[HtpOperation, ...]:
    work = work_of(name, precision)
    return compile_graph(work.calls, work.network, vtcm_bytes)


@functools.cache
def _machine(chip: str, pace: float | None) -> HtpMachine:
    """A chip at a pace, None for the one that its file states."""
    known = chips.load(chip)
    at_pace = known if pace is None else known.with_value("htp.pace", pace)
    return HtpMachine.of(at_pace, stacks.load(STACK))


@functools.cache
def _has_pace(chip: str) -> bool:
    """Whether the pace of a chip is fitted to rows of its own."""
    return dict(chips.load(chip).quantities())["htp.pace"].confidence == "calibrated"


def _pace(rows: Sequence[HtpRow], constants: Sequence[float], *, public: bool = False) -> float:
    """The pace at which the mean logarithm of errors of these rows is zero."""
    low, high = _PACES
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        slow = sum(
            math.log(predicted_ms(row, constants, public=public, pace=middle) / row.latency_ms)
            for row in rows
        )
        low, high = (middle, high) if slow > 0 else (low, middle)
    return math.sqrt(low * high)


def predicted_ms(
    row: HtpRow, constants: Sequence[float], *, public: bool = False, pace: float | None = None
) -> float:
    """The model's latency with these values of FITTED and OF_RELEASE."""
    known = _machine(row.chip, pace)
    share, vector, broadcast, row_vector, regrouped, operator = (
        float(value / constant) for value, constant in zip(constants, stated(), strict=True)
    )
    clock_hz = chips.load(row.chip).htp.clock_hz
    clock = _PUBLIC_CLOCK_HZ.get(row.chip, clock_hz) / clock_hz if public else 1.0
    factors = {
        "vectors": vector / clock,
        "function_vectors": vector / clock,
        "broadcast_vectors": broadcast / clock,
        "row_vectors": row_vector / clock,
        "regrouped_vectors": regrouped / clock,
    }
    machine = replace(
        known,
        clock_hz=known.clock_hz * clock,
        int8_macs_per_s=known.int8_macs_per_s * clock,
        fp16_macs_per_s=known.fp16_macs_per_s * clock,
        hmx_share=known.hmx_share * share,
        vector_s=scaled(known.vector_s, factors),
        float_vector_s=scaled(known.float_vector_s, factors),
        port_bytes_per_s=known.port_bytes_per_s * clock,
        operator_s=known.operator_s * operator / clock,
        graph_s=known.graph_s / clock,
    )
    compiled = _compiled(row.network, row.precision, machine.vtcm_bytes)
    release = stacks.load(STACK)
    calls = release.htp.call_s
    call_s = calls.none if row.runtime == "snpe" else calls.of(release.profile())
    return (call_s + schedule(compiled, machine)[-1].end_s) * 1e3


@functools.cache
def stated() -> tuple[float, ...]:
    """The calibrated constants as the files state them."""
    chip, stack = dict(chips.load(CHIP).quantities()), dict(stacks.load(STACK).quantities())
    return (
        *(chip[path].value for path in FITTED),
        *(stack[path].value for path in OF_RELEASE),
    )


def fitted(rows: Sequence[HtpRow]) -> tuple[float, ...]:
    """Gauss and Newton in logarithms, with errors beyond `_LIMIT` counting less."""
    x = np.log(stated())

    def errors(at: Logs) -> Logs:
        values = np.exp(at)
        return np.log([predicted_ms(row, values) / row.latency_ms for row in rows])

    share = FITTED.index("htp.hmx_share")
    for _ in range(_ROUNDS):
        now = errors(x)
        slopes = np.stack([(errors(x + _STEP * unit) - now) / _STEP for unit in np.eye(len(x))], 1)
        weight = np.sqrt(1.0 / np.maximum(1.0, np.abs(now) / (_LIMIT / 2)))
        ridge = 0.1 * np.eye(len(x))
        matrix = np.vstack([slopes * weight[:, None], ridge])
        right = np.concatenate([-now * weight, np.zeros(len(x))])
        x = x + np.linalg.lstsq(matrix, right, rcond=None)[0]
        x[share] = min(0.0, float(x[share]))
    return tuple(float(value) for value in np.exp(x))


def _left_out_pace(chip: str, seen: Sequence[HtpRow], constants: Sequence[float]) -> float | None:
    """The pace by the other networks of a chip, or else its nearest chip; None for the stated."""
    own = [row for row in seen if row.chip == chip]
    if own:
        return _pace(own, constants) if _has_pace(chip) else None
    near = [row for row in seen if row.chip == _NEAREST.get(chip)]
    return _pace(near, constants, public=True) if near else 1.0


Errors = dict[HtpRow, float]


def by_model(rows: Sequence[HtpRow], key: str) -> Errors:
    """Each row by constants that have seen none with its network (or chip)."""
    errors: Errors = {}
    for left_out in dict.fromkeys(getattr(row, key) for row in rows):
        seen = [row for row in rows if getattr(row, key) != left_out]
        constants = fitted([row for row in seen if row.chip in _MANY])
        paces: dict[str, float | None] = {}
        for row in rows:
            if getattr(row, key) == left_out:
                if row.chip not in paces:
                    paces[row.chip] = _left_out_pace(row.chip, seen, constants)
                ms = predicted_ms(row, constants, public=key == "chip", pace=paces[row.chip])
                errors[row] = ms / row.latency_ms - 1
    return errors


def _by_line(rows: Sequence[HtpRow], feature: Callable[[HtpRow], float]) -> Errors:
    """A constant plus a factor times a feature, least squares of relative errors, row left out."""
    errors: Errors = {}
    for row in rows:
        others = [
            other
            for other in rows
            if (other.chip, other.precision) == (row.chip, row.precision) and other is not row
        ]
        if len(others) < _LEAST_ROWS:
            continue
        matrix = np.array([[1.0, feature(other)] for other in others])
        times = np.array([other.latency_ms for other in others])
        (base, slope), *_ = np.linalg.lstsq(
            matrix / times[:, None], np.ones(len(times)), rcond=None
        )
        errors[row] = (base + slope * feature(row)) / row.latency_ms - 1
    return errors


def _macs(row: HtpRow) -> float:
    return work_of(row.network, row.precision).macs


def _roofline(row: HtpRow) -> float:
    """Layer by layer the slower of multiply-adds and weights from DDR, by public constants."""
    chip, work = chips.load(row.chip), work_of(row.network, row.precision)
    htp = chip.htp
    is_float = row.precision == "float"
    peak = htp.clock_hz * (htp.fp16_macs_per_clk if is_float else htp.int8_macs_per_clk)
    ddr = chip.memory.ddr_peak_bytes_per_s
    moved = (call.parameter_bytes + call.operand_bytes + call.result_bytes for call in work.calls)
    pairs = zip(work.calls, moved, strict=True)
    return 1e3 * sum(max(call.macs / peak, size / ddr) for call, size in pairs)


def by_another_chip(rows: Sequence[HtpRow]) -> Errors:
    """A network's latency on another chip times the median ratio of the other networks."""
    known = {(row.network, row.precision, row.chip): row.latency_ms for row in rows}
    names = sorted({row.network for row in rows})
    errors: Errors = {}
    for row in rows:
        guesses = []
        for chip in sorted({row.chip for row in rows} - {row.chip}):
            here = known.get((row.network, row.precision, chip))
            ratios = [
                known[name, row.precision, row.chip] / known[name, row.precision, chip]
                for name in names
                if name != row.network
                and (name, row.precision, row.chip) in known
                and (name, row.precision, chip) in known
            ]
            if here and ratios:
                guesses.append(here * float(np.median(ratios)))
        if guesses:
            errors[row] = float(np.median(guesses)) / row.latency_ms - 1
    return errors


def scores(errors: Errors, precision: str) -> tuple[float, float, float]:
    """Median and 90th percentile of the absolute errors, and the mean rank correlation."""
    rows = [row for row in errors if row.precision == precision]
    sizes = np.abs([errors[row] for row in rows])
    ranks = []
    for chip in dict.fromkeys(row.chip for row in rows):
        here = [row for row in rows if row.chip == chip]
        true = np.argsort(np.argsort([row.latency_ms for row in here]))
        said = np.argsort(np.argsort([row.latency_ms * (1 + errors[row]) for row in here]))
        ranks.append(np.corrcoef(true, said)[0, 1])
    return float(np.median(sizes)), float(np.quantile(sizes, 0.9)), float(np.mean(ranks))


def _of_paced(errors: Errors, *, paced: bool) -> Errors:
    """The rows of chips with or without a pace of their own."""
    return {row: error for row, error in errors.items() if _has_pace(row.chip) == paced}


def _table(named: Iterable[tuple[str, Errors]]) -> str:
    lines = ["| predictor | precision | median | 90th percentile | rank |", "|---|---|---|---|---|"]
    for name, errors in named:
        for precision in PRECISIONS:
            if not any(row.precision == precision for row in errors):
                continue
            middle, high, rank = scores(errors, precision)
            order = "" if math.isnan(rank) else f"{rank:.3f}"
            lines.append(
                f"| {name} | {precision} | {100 * middle:.1f} % | {100 * high:.1f} % | {order} |"
            )
    return "\n".join(lines)


def _each(errors: Errors) -> str:
    columns = list(dict.fromkeys((row.precision, row.chip) for row in errors))
    lines = [
        "| network | " + " | ".join(f"{chip} {precision}" for precision, chip in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    known = {(row.network, row.precision, row.chip): error for row, error in errors.items()}
    for name in sorted({row.network for row in errors}):
        cells = [known.get((name, *column), math.nan) for column in columns]
        shown = ["" if math.isnan(cell) else f"{100 * cell:+.0f} %" for cell in cells]
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def _by_chip(errors: Errors) -> str:
    lines = [
        "| chip left out | precision | median | bias | with an anchor, median | worst anchor |",
        "|---" * 6 + "|",
    ]
    for chip, precision in dict.fromkeys((row.chip, row.precision) for row in errors):
        here = [e for row, e in errors.items() if (row.chip, row.precision) == (chip, precision)]
        middle, bias = float(np.median(np.abs(here))), float(np.median(here))
        anchored = anchored_medians(here)
        ends = [float(np.median(anchored)), max(anchored)]
        beside = ["" if math.isnan(end) else f"{100 * end:.1f} %" for end in ends]
        lines.append(
            f"| {chip} | {precision} | {100 * middle:.1f} % | {100 * bias:+.1f} % | "
            f"{' | '.join(beside)} |"
        )
    return "\n".join(lines)


def anchored_medians(errors: Sequence[float]) -> list[float]:
    """For each row of a chip as the anchor, the median absolute error of its other rows."""
    at = range(len(errors))
    return [
        float(
            np.median([abs((1 + errors[n]) / (1 + errors[anchor]) - 1) for n in at if n != anchor])
        )
        for anchor in at
    ]


def scored() -> list[HtpRow]:
    """The rows of networks in the folder, on chips whose tensor processor is simulated."""
    files = {path.stem for path in folder().glob("*.onnx")}
    rows = [row for row in htp_rows() if row.runtime in RUNTIMES and _file(row.network) in files]
    return [row for row in rows if "htp" in chips.load(row.chip).runtimes]


def tables() -> dict[str, str]:
    """The tables of the page by their marks."""
    rows = scored()
    cross = by_model(rows, "network")
    board = _table(
        (
            ("multiply-adds plus a constant", _by_line(rows, _macs)),
            ("roofline plus a constant", _by_line(rows, _roofline)),
            ("this model, chips without a pace", _of_paced(cross, paced=False)),
            ("this model, pace by the chip's other network", _of_paced(cross, paced=True)),
            ("the same network on other chips, scaled", by_another_chip(rows)),
        )
    )
    unseen = by_model(rows, "chip")
    return {
        "scoreboard": board,
        "networks": _each(cross),
        "networks of chips": _each(unseen),
        "chips": _by_chip(unseen),
    }


if __name__ == "__main__":
    names, shared = (*FITTED, *OF_RELEASE), [row for row in scored() if row.chip in _MANY]
    constants = fitted(shared)
    print({name: round(value, 3) for name, value in zip(names, constants, strict=True)})
    for chip in dict.fromkeys(row.chip for row in scored() if _has_pace(row.chip)):
        pace = _pace([row for row in scored() if row.chip == chip], constants)
        print(f"pace of {chip}: {pace:.3f}")
    print("\n\n".join(tables().values()))
