"""One kernel alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.studies.kernel_probe import probe
from hexsim.studies.probes import KINDS
from tests.thorough import examples

CHIPS = {name: Platform.load(name) for name in ("sd820", "sd835", "sd845", "sd855")}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_runs_on_every_architecture(kind: str, chip: str) -> None:
    probed = probe(kind, KINDS[kind].example.replace(",", " ").split()[0], CHIPS[chip])
    assert probed.streams
    assert probed.cycles > 0
    assert 0 <= probed.padding_waste < 1
    assert probed.stall_slots >= sum(item.stalls for item in probed.work.items)
    assert probed.dsp.peak_macs_per_packet == {820: 256, 835: 256}.get(int(chip[2:]), 512)


@examples(40)
@given(
    st.sampled_from(sorted(CHIPS)),
    st.sampled_from(["conv", "depthwise"]),
    st.tuples(st.integers(1, 40), st.integers(1, 40), st.sampled_from([3, 16, 32, 100, 256])),
    st.sampled_from([1, 3, 5]),
    st.integers(1, 2),
)
def test_no_layer_beats_the_peak(
    chip: str, kind: str, size: tuple[int, int, int], kernel: int, stride: int
) -> None:
    out = "" if kind == "depthwise" else ":96"
    shape = f"{'x'.join(map(str, size))}{out}:{kernel}x{kernel}:s{stride}"
    probed = probe(kind, shape, CHIPS[chip])
    assert 0 < probed.efficiency < 1
    assert probed.call.macs <= probed.work.packets * probed.dsp.peak_macs_per_packet
    assert probed.work.read_bytes >= probed.call.parameter_bytes


def test_a_change_of_layout_that_does_nothing_is_refused() -> None:
    with pytest.raises(HexsimError, match="to_d32 does nothing"):
        probe("to_d32", "1x1x64", CHIPS["sd855"])


def test_a_flat_picture_is_not_padded() -> None:
    assert probe("colours", "224x224x4", CHIPS["sd855"]).padding_waste == 0


def test_padding_is_that_of_the_tiles() -> None:
    assert probe("conv", "8x8x32:32:3x3", CHIPS["sd855"]).padding_waste == 0
    half = probe("conv", "8x8x16:32:3x3", CHIPS["sd855"])
    assert half.padding_waste == pytest.approx(0.5)
    grouped = probe("conv", "8x8x32:32:3x3:s1:g2", CHIPS["sd855"])
    assert grouped.padding_waste == pytest.approx(0.75)
