"""AIP beside the DSP, and the tensor engine beside its measurements.

    python -m benchmarks.aip_tables            prints the page
    python -m benchmarks.aip_tables --write    puts the tables into docs/results/aip.md

The measured rows of the tensor engine (runtime `hta`) are whole networks in one subnet, as QNN's
HTA back end runs them; AIP has the sections that `--enable-hta` compiles. The rows take part in the
fit of the constants, so each is also predicted by a fit without it, as the fit's record has it.
Networks are planned as the default quantiser would leave them, so no weight is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.pages import RESULTS, fenced, print_or_write, with_block
from benchmarks.published_fit import fitted_rows
from hexsim import models
from hexsim.datasheets import measurements
from hexsim.datasheets.measurements.calibration import calibration
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.quantization.model import Model
from hexsim.reports.text import table
from hexsim.studies.calibration.prediction import deployed
from hexsim.studies.uncertainty import Times, Uncertainty, sweep, swept
from hexsim.timing.results import Result

PAGE = RESULTS / "aip.md"
CHIPS = ("sd855", "sd865")
_LARGEST = 3


def whole(model: Model, platform: Platform) -> Deployment:
    """The network in one HTA subnet, whatever the rules of AIP say."""
    return deployed(model, platform, "hta")


def with_sections(model: Model, platform: Platform) -> Deployment:
    """The network on AIP with the sections that the compiler finds."""
    return deployed(model, platform, "aip")


def measured() -> tuple[measurements.Measurement, ...]:
    """The rows of the tensor engine."""
    return tuple(row for row in measurements.rows() if row.runtime == "hta")


def predicted(row: measurements.Measurement) -> tuple[Result, Uncertainty]:
    """Simulate a row, and sweep every constant that this reads."""
    platform = Platform.load(row.chip, row.stack)
    workload = whole(load(row.model), platform).workload(
        idle_ms=row.idle_ms or 0.0, perf_profile=row.perf_profile
    )
    return (
        platform.simulate(workload),
        sweep(platform, lambda changed: changed.simulate(workload)),
    )


def _without_itself() -> dict[measurements.Measurement, float | None]:
    """Times of the rows by fits that have not seen them, in ms."""
    fit = calibration()
    column = fit.columns.index("row left out")
    both = zip(fitted_rows(), fit.predictions, strict=True)
    return {row: predicted[column] for row, predicted in both}


def rows_table() -> str:
    """Return measured and simulated times of the tensor engine, with what they consist of."""
    header = ("network", "measured", "simulated", "error", "left out", "error", "between", "array",
              "DDR", "layout", "the rest", "interval due to")  # fmt: skip
    lines, left_out = [], _without_itself()
    for row in measured():
        result, doubt = predicted(row)
        total_ms, without_ms = result.total_us / 1e3, left_out.get(row)
        parts = [
            sum(layer.parts_ps[part] for layer in result.layers) / 1e9
            for part in ("compute", "ddr")
        ]
        parts.append(_overheads_ms(result, ("to_hta ", "from_hta ")))
        most = zip(doubt.sensitivities[:_LARGEST], doubt.shares, strict=False)
        lines.append(
            (
                row.model,
                f"{row.latency_ms:.2f}",
                f"{total_ms:.2f}",
                f"{total_ms / row.latency_ms - 1:+.0%}",
                f"{without_ms:.2f}" if without_ms else "",
                f"{without_ms / row.latency_ms - 1:+.0%}" if without_ms else "",
                f"{doubt.low.total_us / 1e3:.2f} .. {doubt.high.total_us / 1e3:.2f}",
                *(f"{part:.2f}" for part in parts),
                f"{total_ms - sum(parts):.2f}",
                ", ".join(f"{swing.path} {share:.0%}" for swing, share in most),
            )
        )
    return table(header, lines, left=frozenset({0, 11}))


def _overheads_ms(result: Result, starts: tuple[str, ...]) -> float:
    return sum(o.duration_ps for o in result.overheads if o.name.startswith(starts)) / 1e9


@dataclass(frozen=True)
class Beside:
    """One network on both runtimes of a chip; `doubt` is of the time on dsp over that on aip."""

    network: str
    dsp: Result
    aip: Result
    doubt: Uncertainty

    @classmethod
    def of(cls, name: str, platform: Platform) -> Beside:
        """Simulate a network, and sweep what only aip reads."""
        model = load(name)
        dsp = Deployment(model, platform, "dsp").simulate()
        on_aip = with_sections(model, platform).workload()

        def gain(changed: Platform) -> Times:
            ratio = dsp.total_us / changed.simulate(on_aip).total_us
            return Times(ratio, ratio)

        doubt = swept(platform, gain, "tensor engine")
        return cls(name, dsp, platform.simulate(on_aip), doubt)

    @property
    def line(self) -> tuple[str, ...]:
        """The line of the table."""
        aip = self.aip
        hta = [layer for layer in aip.layers if layer.engine == "hta"]
        engine_ms = sum(layer.duration_ps for layer in hta) / 1e9
        macs = sum(layer.macs for layer in hta)
        clocks_ps = sum(layer.duration_ps * layer.array_utilisation for layer in hta)
        subnets = sum(overhead.name == "hta_subnet" for overhead in aip.overheads)
        others = sum(overhead.name == "hnn_subnet" for overhead in aip.overheads)
        hand_overs = _overheads_ms(
            aip, ("hta_subnet", "hnn_subnet", "hta_tensors", "hta_interrupt")
        )
        layout = _overheads_ms(aip, ("to_", "from_"))
        rest = aip.total_us / 1e3 - engine_ms - hand_overs - layout
        rest -= sum(layer.duration_ps for layer in aip.layers if layer.engine != "hta") / 1e9
        return (
            self.network,
            f"{self.dsp.total_us / 1e3:.2f}",
            f"{aip.total_us / 1e3:.2f}",
            f"{self.doubt.nominal.total_us:.2f}",
            f"{self.doubt.low.total_us:.2f} .. {self.doubt.high.total_us:.2f}",
            f"{subnets} + {others}",
            f"{macs / max(1, sum(layer.macs for layer in aip.layers)):.0%}",
            f"{clocks_ps / max(1.0, engine_ms * 1e9):.0%}",
            f"{engine_ms:.2f}",
            f"{sum(layer.duration_ps for layer in aip.layers if layer.engine != 'hta') / 1e9:.2f}",
            f"{layout:.2f}",
            f"{hand_overs:.2f}",
            f"{rest:.2f}",
        )


HEADER = ("network", "dsp", "aip", "dsp/aip", "between", "subnets", "MACs on HTA", "array used",
          "on HTA", "on HVX", "layout", "hand-over", "entry")  # fmt: skip


def beside_table(chip: str) -> str:
    """Return a line per built-in network, the single convolutions apart."""
    platform = Platform.load(chip)
    others = ("conv1x1", *models.TRAINED)
    names = [name for name in models.names() if not name.startswith(others)]
    lines = [Beside.of(name, platform).line for name in names]
    title = f"{chip}, {platform.stack.name}, {platform.stack.default_profile}"
    return f"{title}\n{table(HEADER, lines)}"


def page() -> str:
    """Return docs/results/aip.md with the tables of today."""
    text = with_block(PAGE.read_text(encoding="utf-8"), "rows", fenced(rows_table()))
    for chip in CHIPS:
        text = with_block(text, chip, fenced(beside_table(chip)))
    return text


if __name__ == "__main__":
    print_or_write(PAGE, page)
