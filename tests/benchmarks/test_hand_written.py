"""Our kernels beside the counted ones, in every machine, accepted by llvm-mc."""

import statistics

import pytest

from benchmarks.hand_written import comparison
from hexsim.hvx.assembly import loop_asm, straight_asm
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.modulo import Loop
from tests.oracle.toolchain import refused

ROWS = list(comparison())
IDS = [f"{r.kernel.name}, {r.shape}" for r in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_within_five_percent_or_explained(row):
    assert abs(row.deviation) <= 0.05 or row.kernel.note


def test_half_of_the_kernels_are_within_two_percent():
    assert statistics.median(abs(row.deviation) for row in ROWS) <= 0.02


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_packet_is_legal_and_every_value_has_a_register(row):
    for segment in (*row.kernel.tile, *row.kernel.row, *row.kernel.call):
        assert all(packet.legal(row.kernel.machine) for packet in segment.code.packets)
        assert len(asm(segment)) >= segment.packets
        assert segment.stalls >= 0


def asm(segment):
    return loop_asm(segment.code) if isinstance(segment.code, Loop) else straight_asm(segment.code)


@pytest.mark.toolchain
@pytest.mark.parametrize("version", [60, 65, 66])
def test_llvm_mc_accepts_every_packet(version):
    machine = HvxMachine(version)
    kernels = {r.kernel.name: r.kernel for r in ROWS if r.kernel.machine == machine}
    texts = [t for k in kernels.values() for s in (*k.tile, *k.row, *k.call) for t in asm(s)]
    assert texts
    assert refused(texts, version) == {}
