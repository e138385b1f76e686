"""The energy of one inference, by layer, overhead and part, and the average power of several.

A layer spends energy for its counts (packets, MACs, bytes by level of memory) and, during its
time, for the leakage and the clock tree of the engines that are awake: the DSP during its own
layers, the layers of the tensor engine and the overheads on the DSP, and the tensor engine and the
tensor processor during their own layers.
On the CPU a layer keeps all cores of its runtime busy, an overhead one core; while the CPU
waits for another engine it sleeps. Layers and overheads add up to the inference.

Left out: idle time between inferences, initialisation, bytes of overheads that are in their cost
per element, and the rest of a phone, from its display to the losses of its supply.

The counted energy of inferences adds up. Leakage and clock tree of a domain are counted once while
at least one inference keeps it awake.

Left out: the energy of background clients and of idle time (`hexsim.studies.always_on` has both).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from hexsim.datasheets.chips import Chip, Corner
from hexsim.datasheets.quantity import Estimate
from hexsim.energy.rates import Domain, Rates, rates
from hexsim.records import dataclass
from hexsim.timing.picoseconds import PS_PER_SECOND
from hexsim.timing.results import InferenceTiming, LayerTiming, Overhead

Part = Literal[
    "vector packets",
    "scalar packets",
    "macs",
    "l2",
    "vtcm",
    "ddr",
    "leakage",
    "clock tree",
    "cpu",
    "gpu",
]
PARTS: tuple[Part, ...] = get_args(Part)


def total(estimates: Iterable[Estimate]) -> Estimate:
    """Add estimates end by end."""
    return sum(estimates, Estimate())


@dataclass(frozen=True)
class Spent:
    """Energy of one layer or overhead, in millijoules by part, without parts of zero."""

    name: str
    parts: Mapping[Part, Estimate]

    @property
    def estimate(self) -> Estimate:
        """All parts together, in millijoules."""
        return total(self.parts.values())

    @property
    def millijoules(self) -> float:
        """All parts together, with the constants as they are stated."""
        return self.estimate.value


STATIC: tuple[Part, ...] = ("leakage", "clock tree")
"""Parts that depend on time only."""

_MILLI = 1e3
_WAITS = ("cpu_wait", "gpu_wait")
"""Overheads of the runtime in which no core works for the inference."""


@dataclass(frozen=True)
class Energy:
    """What one inference spends, in millijoules.

    `low` and `high` are the values with all constants at their lower or upper ends at once. The
    uncertainty of the simulated times is not included.
    """

    layers: tuple[Spent, ...]
    overheads: tuple[Spent, ...]

    @property
    def parts(self) -> dict[Part, Estimate]:
        """Energy of all layers and overheads by part, without parts of zero."""
        charges = (*self.layers, *self.overheads)
        return {
            part: total(charge.parts[part] for charge in charges if part in charge.parts)
            for part in PARTS
            if any(part in charge.parts for charge in charges)
        }

    @property
    def estimate(self) -> Estimate:
        """The whole inference."""
        return total(layer.estimate for layer in (*self.layers, *self.overheads))

    @property
    def millijoules(self) -> float:
        """The whole inference, with the constants as they are stated."""
        return self.estimate.value

    @property
    def low(self) -> float:
        """The same with every constant at its lower end."""
        return self.estimate.low

    @property
    def high(self) -> float:
        """The same with every constant at its upper end."""
        return self.estimate.high


def inference_energy(timing: InferenceTiming, chip: Chip, corner: Corner) -> Energy:
    """Return the energy of an inference on `chip` with the DSP at `corner`."""
    return charged(timing, chip, rates(chip, corner))


def charged(timing: InferenceTiming, chip: Chip, rate_ends: tuple[Rates, Rates, Rates]) -> Energy:
    """Return the energy of an inference at given rates: typical, low and high."""
    cores = chip.cpu_table.cores if chip.cpu_table else 1
    contexts_packets = _vector_share(chip)
    return Energy(
        tuple(
            _spent(
                layer.name, [_of_layer(layer, rate, cores, contexts_packets) for rate in rate_ends]
            )
            for layer in timing.layers
        ),
        tuple(
            _spent(overhead.name, [_of_overhead(overhead, rate) for rate in rate_ends])
            for overhead in timing.overheads
        ),
    )


def awake(charge: LayerTiming | Overhead) -> tuple[Domain, ...]:
    """Return the domains that leak and are clocked during a layer or an overhead."""
    if isinstance(charge, Overhead):
        return () if charge.scope == "runtime" else ("dsp",)
    if charge.engine == "hta":
        return ("dsp", "hta")
    if charge.engine == "htp":
        return ("htp",)
    return ("dsp",) if charge.engine == "hvx" else ()


def _vector_share(chip: Chip) -> float:
    """Return the vector packets of a fully used vector unit per clock."""
    dsp = chip.dsp_table
    return dsp.hvx.contexts / dsp.issue_clk_per_packet if dsp else 0.0


def _of_layer(layer: LayerTiming, rate: Rates, cores: int, share: float) -> dict[Part, float]:
    seconds = layer.duration_ps / PS_PER_SECOND
    used = layer.hvx_utilisation * seconds * layer.clock_hz * share
    vector = min(layer.packets, round(used))
    spent = _static(layer, rate) | _moved(layer, rate)
    spent["vector packets"] = vector * rate.vector_packet_j
    spent["scalar packets"] = (layer.packets - vector) * rate.scalar_packet_j
    if layer.engine == "cpu":
        spent["cpu"] = cores * seconds * rate.cpu_core_w
    elif layer.engine == "gpu":
        spent["gpu"] = seconds * rate.gpu_w
    else:
        of_engine = {"hta": rate.hta_mac_j, "htp": rate.htp_mac_j}
        spent["macs"] = layer.macs * of_engine.get(layer.engine, rate.hvx_mac_j)
    if layer.engine == "htp":
        spent["vtcm"] = layer.vtcm_bytes * rate.htp_vtcm_j
    return spent


def _of_overhead(part: Overhead, rate: Rates) -> dict[Part, float]:
    spent = _static(part, rate) | _moved(part, rate)
    spent["vector packets"] = part.vector_packets * rate.vector_packet_j
    spent["scalar packets"] = (part.packets - part.vector_packets) * rate.scalar_packet_j
    if part.scope == "runtime" and part.name not in _WAITS:
        spent["cpu"] = part.duration_ps / PS_PER_SECOND * rate.cpu_core_w
    return spent


def _static(charge: LayerTiming | Overhead, rate: Rates) -> dict[Part, float]:
    seconds = charge.duration_ps / PS_PER_SECOND
    return {
        "leakage": seconds * sum(rate.leakage_w[domain] for domain in awake(charge)),
        "clock tree": seconds * sum(rate.clock_tree_w[domain] for domain in awake(charge)),
    }


def _moved(charge: LayerTiming | Overhead, rate: Rates) -> dict[Part, float]:
    return {
        "l2": charge.l2_bytes * rate.l2_j,
        "vtcm": charge.vtcm_bytes * rate.vtcm_j,
        "ddr": (charge.ddr_read_bytes + charge.ddr_write_bytes) * rate.ddr_j,
    }


def _spent(name: str, ends: list[dict[Part, float]]) -> Spent:
    """Combine the energies at the stated constants and at both ends."""
    value, low, high = ends
    parts = {
        part: Estimate(value[part], low[part], high[part]) * _MILLI
        for part in PARTS
        if value.get(part)
    }
    return Spent(name, parts)


Interval = tuple[int, int]


def average_power_w(timings: Sequence[InferenceTiming], chip: Chip, corner: Corner) -> Estimate:
    """Return the watts from the first call to the last return; 0 if no time passes."""
    rate_ends = rates(chip, corner)
    elapsed_ps = _elapsed_ps(timings)
    if not elapsed_ps:
        return Estimate()
    counted = total(
        estimate
        for timing in timings
        for spent in _charges_of(timing, chip, rate_ends)
        for estimate in spent
    )
    return (counted + _awake_j(timings, rate_ends)) * (PS_PER_SECOND / elapsed_ps)


def _elapsed_ps(timings: Sequence[InferenceTiming]) -> int:
    if not timings:
        return 0
    return max(timing.end_ps for timing in timings) - min(timing.start_ps for timing in timings)


def _charges_of(
    timing: InferenceTiming, chip: Chip, rate_ends: tuple[Rates, Rates, Rates]
) -> Iterable[list[Estimate]]:
    """Yield the joules of the counted parts, charge by charge."""
    energy = charged(timing, chip, rate_ends)
    for layer in (*energy.layers, *energy.overheads):
        yield [spent * 1e-3 for part, spent in layer.parts.items() if part not in STATIC]


def _awake_j(timings: Sequence[InferenceTiming], rate_ends: tuple[Rates, Rates, Rates]) -> Estimate:
    """Return the joules of leakage and clock tree."""
    domains: tuple[Domain, ...] = ("dsp", "hta", "htp")
    seconds = {domain: union_ps(_awake(timings, domain)) / PS_PER_SECOND for domain in domains}
    value, low, high = (
        sum(
            seconds[domain] * (rate.leakage_w[domain] + rate.clock_tree_w[domain])
            for domain in domains
        )
        for rate in rate_ends
    )
    return Estimate(value, low, high)


def _awake(timings: Sequence[InferenceTiming], domain: Domain) -> Iterable[Interval]:
    for timing in timings:
        charges: tuple[LayerTiming | Overhead, ...] = (*timing.layers, *timing.overheads)
        for charge in charges:
            if domain in awake(charge):
                yield charge.start_ps, charge.start_ps + charge.duration_ps


def union_ps(intervals: Iterable[Interval]) -> int:
    """Return the length of the union of all intervals."""
    covered = end = 0
    for start, stop in sorted(intervals):
        if stop > end:
            covered += stop - max(start, end)
            end = stop
    return covered
