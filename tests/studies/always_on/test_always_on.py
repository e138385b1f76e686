"""Always-on alternatives: power worked out by hand, what wakes whom, and refusals."""

import pytest

from hexsim.datasheets import background, islands
from hexsim.datasheets.background import Client
from hexsim.deployment.platform import Platform
from hexsim.energy.rates import idle_rates, island_rates
from hexsim.errors import HexsimError
from hexsim.planning.plan import Plan
from hexsim.results.always_on import AlwaysOn
from hexsim.studies.always_on import always_on
from hexsim.studies.always_on.dsp import misfit, network_task
from tests.small_networks import Sketch, plan

SD855 = Platform.load("sd855")
ISLAND = islands.island_of(SD855.chip)


def words(channels: int = 16, side: int = 8) -> Plan:
    net = Sketch((1, side, side, channels))
    return plan(net.network(net.conv("in", channels, 3)), "dsp")


def spent(result: AlwaysOn, at: int) -> dict[str, float]:
    return {part: estimate.value for part, estimate in result.alternatives[at].parts_mw.items()}


def test_the_island_spends_what_its_counts_cost() -> None:
    task = network_task(words(), ISLAND, 0.02)
    macs, elements = 8 * 8 * 16 * 9 * 16, 8 * 8 * 16
    assert (task.macs, task.packets) == (macs, macs * 0.125 + elements * 4 + 2000)
    result = always_on(words(), SD855, 20.0)
    rate, idle = island_rates(SD855.chip, ISLAND, "svs")[0], idle_rates(SD855.chip)[0]
    run_s = task.packets * 2 / (200e6 * 2)
    joules = task.packets * rate.scalar_packet_j + macs * rate.mac_j + run_s * rate.awake_w
    joules += task.moved_bytes * rate.local_j
    parts = spent(result, 0)
    assert parts["inference"] == pytest.approx(joules / 0.02 * 1e3)
    assert parts["wake-ups"] == pytest.approx((rate.wake_j + 50e-6 * rate.awake_w) / 0.02 * 1e3)
    assert parts["ddr"] == pytest.approx(idle.ddr_self_refresh_w * 1e3), "nobody reaches it"
    island = result.alternatives[0]
    assert island.duty == pytest.approx((run_s + 50e-6) / 0.02)
    assert island.parts_mw["inference"].low < parts["inference"] < island.parts_mw["inference"].high


def test_the_dsp_pays_for_waking_both_processors_and_for_ddr() -> None:
    result = always_on(words(), SD855, 20.0)
    island, dsp = result.alternatives
    assert (island.where, dsp.where) == ("island", "dsp")
    assert dsp.parts_mw["wake-ups"].value > dsp.parts_mw["inference"].value
    assert dsp.parts_mw["ddr"].value > island.parts_mw["ddr"].value
    assert result.possible[0] is island
    awake = always_on(words(), SD855.without_power_collapse(), 20.0).alternatives[1]
    assert awake.duty == pytest.approx(1)
    assert awake.parts_mw["idle"].value > dsp.parts_mw["idle"].value


def test_a_longer_period_takes_less_until_only_sleep_is_left() -> None:
    powers = [always_on(words(), SD855, every).alternatives for every in (10.0, 100.0, 10_000.0)]
    for at in (0, 1):
        means = [alternatives[at].power.value for alternatives in powers]
        assert means == sorted(means, reverse=True)
        last = powers[-1][at].parts_mw
        assert last["inference"].value < 0.01 * last["ddr"].value


def test_sensors_run_on_the_island_and_a_client_of_vectors_wakes_the_dsp() -> None:
    load = background.load("sensor-hub")
    plain, beside = (always_on(words(), SD855, 20.0, background=loads) for loads in ((), (load,)))
    island = beside.alternatives[0]
    assert island.elsewhere == (
        "detector uses vectors, which the island does not have, and wakes the DSP",
    )
    assert island.parts_mw["ddr"].value > plain.alternatives[0].parts_mw["ddr"].value
    assert island.parts_mw["background"].value > 0
    assert island.duty > plain.alternatives[0].duty


def test_a_client_that_always_comes_back_keeps_the_dsp_awake_and_wakes_nobody() -> None:
    dsp = always_on(words(), SD855, 20.0, "dsp", background=[background.load("audio")])
    (alone,) = dsp.alternatives
    assert alone.duty == 1
    assert "dsp_wake" not in alone.parts_mw
    without = always_on(words(), SD855, 20.0, "dsp").alternatives[0]
    assert alone.parts_mw["wake-ups"].value < without.parts_mw["wake-ups"].value, "the CPU's alone"


def test_a_client_with_more_than_the_island_has_stays_on_the_dsp() -> None:
    client = Client(
        name="buffer", period_us=1e5, priority=9, unit="scalar", packets=1, ddr_bytes=600 * 1024
    )
    assert "buffer moves 600 KiB a period, more than the 512 KiB" in misfit(client, ISLAND)


def test_what_the_island_cannot_take_is_refused_with_its_reason() -> None:
    large = words(channels=64, side=96)
    compared = always_on(large, SD855, 500.0)
    assert "KiB (weights" in (compared.alternatives[0].refusal or "")
    assert [alternative.where for alternative in compared.possible] == ["dsp"]
    with pytest.raises(HexsimError, match=r"has 512 KiB left of its 1024 KiB, without DDR"):
        always_on(large, SD855, 500.0, "island")
    net = Sketch((1, 8, 8, 16))
    floats = plan(net.network(net.conv("in", 16, 3)), "cpu")
    with pytest.raises(HexsimError, match="computes floats on the cpu"):
        always_on(floats, SD855, 500.0, "island")


def test_what_does_not_get_done_in_time_is_refused() -> None:
    with pytest.raises(HexsimError, match=r"busy for \d+% of the time at its highest clock"):
        always_on(words(channels=64, side=32), SD855, 1.0, "island")
    with pytest.raises(HexsimError, match=r"more than every 1 ms; call it less often"):
        always_on(words(channels=64, side=96), SD855, 1.0, "dsp")
    with pytest.raises(HexsimError, match="give every between 1 and"):
        always_on(words(), SD855, float("nan"))


def test_a_call_that_makes_the_next_one_late_is_counted_with_it() -> None:
    """Waking takes longer than the period leaves, so calls that wake and calls that do not take
    turns; power lies between that of either kind alone.
    """
    entry = SD855.stack.entry
    wake_ms = (entry.dsp_wake.off.wake_s + entry.cpu_wake.off.wake_s) * 1e3
    often, seldom = (always_on(words(), SD855, every, "dsp") for every in (1.0, 1000.0))
    short_ms, long_ms = (result.alternatives[0].call_ms for result in (often, seldom))
    assert long_ms == pytest.approx(short_ms + wake_ms, rel=0.01)
    every_ms = (short_ms + long_ms) / 2 + entry.dsp_wake.off.after_idle_s * 1e3
    between = always_on(words(), SD855, every_ms, "dsp").alternatives[0]
    assert short_ms < between.call_ms < long_ms
    assert between.parts_mw["wake-ups"].value > 0
    assert between.duty <= 1
