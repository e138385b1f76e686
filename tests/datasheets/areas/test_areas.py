"""Areas add up from what a chip states, and more of anything takes more."""

import pytest

from hexsim.datasheets import chips
from hexsim.datasheets.areas import area_of

SD855 = chips.load("sd855")


def test_the_area_of_sd855_by_hand() -> None:
    core = 0.4 + 4 * 0.03 + 4 * 0.01
    context = 0.12 + 2 * 0.04 + 0.015 + 0.04 + 2 * 0.015
    memory = 1_048_576 * 5e-7 + 262_144 * 4e-7
    hta = 0.15 + 1536 * 4e-5 + 1_048_576 * 4e-7
    assert area_of(SD855).value == pytest.approx(core + 4 * context + memory + hta)


@pytest.mark.parametrize(
    "path",
    [
        "dsp.hardware_threads",
        "dsp.scalar_multipliers",
        "dsp.l2_bytes",
        "dsp.vtcm_bytes",
        "dsp.hvx.contexts",
        "dsp.hvx.multiply_pipes",
        "dsp.hvx.permute_pipes",
        "dsp.hvx.shift_pipes",
        "dsp.hvx.load_ports",
        "dsp.hvx.store_ports",
        "hta.macs_per_clk",
        "hta.local_bytes",
    ],
)
def test_more_of_anything_takes_more_at_every_end(path: str) -> None:
    value = dict(SD855.quantities())[path].value
    before, after = area_of(SD855), area_of(SD855.with_value(path, 2 * value))
    assert before.value < after.value
    assert before.low < after.low
    assert before.high < after.high


def test_ends_enclose_it_and_a_chip_without_hta_has_none() -> None:
    for name in chips.names():
        area = area_of(chips.load(name))
        assert area.low <= area.value <= area.high
    assert area_of(chips.load("sd835")).value < area_of(SD855).value


def test_a_tensor_processor_takes_more_with_more_of_it() -> None:
    """Its multipliers and its VTCM, of which V68 of QCM6490 has fewer."""
    small, large = (area_of(chips.load(name)) for name in ("qcm6490", "sd8gen3"))
    assert 0 < small.low < small.value < small.high
    assert small.value < large.value
