"""Energy of layers and overheads: parts add up, more is never less, nothing costs nothing.

Average power of several inferences.
"""

from dataclasses import replace

import pytest

from hexsim.datasheets import chips
from hexsim.energy.account import average_power_w, awake, inference_energy, union_ps
from hexsim.timing.picoseconds import PS_PER_MS
from hexsim.timing.results import InferenceTiming, LayerTiming, Overhead

CHIP = chips.load("sd835")
LAYER = LayerTiming(
    name="conv",
    type="Convolution",
    engine="hvx",
    start_ps=0,
    duration_ps=PS_PER_MS,
    clock_hz=900e6,
    macs=10**6,
    packets=450_000,
    stalls=0,
    hvx_utilisation=0.25,
    ddr_read_bytes=1000,
    ddr_write_bytes=0,
    l2_bytes=4000,
    vtcm_bytes=0,
    parts_ps={"compute": float(PS_PER_MS)},
    cost_model="kernel",
)


def inference(
    layers: tuple[LayerTiming, ...] = (), overheads: tuple[Overhead, ...] = ()
) -> InferenceTiming:
    return InferenceTiming(0, 0, PS_PER_MS, layers, overheads)


def test_each_part_is_what_was_counted_times_its_constant() -> None:
    (spent,) = inference_energy(inference((LAYER,)), CHIP, "turbo").layers
    energies = {part: estimate.value for part, estimate in spent.parts.items()}
    # A quarter of 900e6 packets a second for 1 ms are 225 000 packets, at 1.4 nJ 0.315 mJ.
    assert energies["vector packets"] == pytest.approx(0.315)
    assert energies["scalar packets"] == pytest.approx(225_000 * 60e-9)
    assert energies["macs"] == pytest.approx(1e6 * 0.15e-9)
    assert energies["l2"] == pytest.approx(4000 * 2.5e-9)
    assert energies["ddr"] == pytest.approx(1000 * 80e-9)
    assert energies["leakage"] == pytest.approx(0.03)
    assert energies["clock tree"] == pytest.approx(0.3)
    assert "vtcm" not in energies


def test_layers_and_overheads_and_parts_add_up_at_every_end() -> None:
    rpc = Overhead("rpc", 0, PS_PER_MS // 2, scope="rpc")
    copy = Overhead("copy", 0, PS_PER_MS // 4)
    energy = inference_energy(inference((LAYER, LAYER), (rpc, copy)), CHIP, "nominal_plus")
    for end in ("value", "low", "high"):
        by_charge = sum(
            getattr(layer.estimate, end) for layer in (*energy.layers, *energy.overheads)
        )
        by_part = sum(getattr(part, end) for part in energy.parts.values())
        assert by_charge == pytest.approx(getattr(energy.estimate, end))
        assert by_part == pytest.approx(by_charge)
    assert 0 < energy.low < energy.millijoules < energy.high


@pytest.mark.parametrize(
    "more",
    [
        {"macs": 2 * 10**6},
        {"packets": 500_000},
        {"ddr_read_bytes": 5000},
        {"ddr_write_bytes": 5000},
        {"l2_bytes": 8000},
        {"vtcm_bytes": 1},
        {"duration_ps": 2 * PS_PER_MS},
    ],
)
def test_more_of_anything_is_more_energy(more: dict[str, int]) -> None:
    before = inference_energy(inference((LAYER,)), CHIP, "turbo")
    after = inference_energy(inference((replace(LAYER, **more),)), CHIP, "turbo")
    assert after.millijoules > before.millijoules
    assert after.low > before.low
    assert after.high > before.high


def test_nothing_costs_nothing() -> None:
    energy = inference_energy(inference((), (Overhead("rpc", 0, 0, scope="rpc"),)), CHIP, "turbo")
    assert (energy.low, energy.millijoules, energy.high) == (0.0, 0.0, 0.0)
    assert energy.parts == {}


def test_a_waiting_cpu_spends_nothing_a_working_one_does() -> None:
    waits = Overhead("gpu_wait", 0, PS_PER_MS)
    works = Overhead("copy", 0, PS_PER_MS)
    assert inference_energy(inference((), (waits,)), CHIP, "turbo").millijoules == 0.0
    # One core of 1 W for 1 ms.
    assert inference_energy(inference((), (works,)), CHIP, "turbo").millijoules == pytest.approx(1)


def test_what_is_awake_follows_engine_and_scope() -> None:
    assert awake(LAYER) == ("dsp",)
    assert awake(replace(LAYER, engine="hta")) == ("dsp", "hta")
    assert awake(replace(LAYER, engine="gpu")) == ()
    assert awake(Overhead("rpc", 0, 1, scope="rpc")) == ("dsp",)
    assert awake(Overhead("copy", 0, 1)) == ()


def test_one_inference_has_its_energy_over_its_time() -> None:
    timing = inference((LAYER,))
    energy, power = (
        inference_energy(timing, CHIP, "turbo"),
        average_power_w([timing], CHIP, "turbo"),
    )
    # Millijoules in one millisecond are watts.
    assert power.value == pytest.approx(energy.millijoules)
    assert (power.low, power.high) == pytest.approx((energy.low, energy.high))


def test_two_at_once_count_twice_but_leak_once() -> None:
    timing = inference((LAYER,))
    single_w = average_power_w([timing], CHIP, "turbo").value
    two = average_power_w([timing, timing], CHIP, "turbo").value
    static = 0.03 + 0.3
    assert two == pytest.approx(2 * single_w - static)


def test_a_pause_lowers_the_average() -> None:
    first = inference((LAYER,))
    later = replace(first, start_ps=9 * PS_PER_MS, end_ps=10 * PS_PER_MS)
    moved = replace(later, layers=(replace(LAYER, start_ps=9 * PS_PER_MS),))
    alone = average_power_w([first], CHIP, "turbo").value
    assert average_power_w([first, moved], CHIP, "turbo").value == pytest.approx(alone / 5)


def test_no_inference_has_no_power() -> None:
    assert average_power_w([], CHIP, "turbo").value == 0.0


def test_the_union_of_intervals_counts_overlaps_once() -> None:
    assert union_ps([(5, 7), (0, 3), (2, 4), (6, 6)]) == 6
