"""Our kernels beside the counted ones, in every machine, accepted by llvm-mc."""

import statistics

import pytest

from benchmarks.hand_written import comparison
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.listing import loop_asm, straight_asm
from hexsim.hvx.modulo import Loop
from tests.oracle.toolchain import refused


@pytest.fixture(scope="module")
def rows():
    return list(comparison())


def test_within_five_percent_or_explained(rows):
    far = {(row.kernel.name, row.shape): row.deviation for row in rows if not row.kernel.note}
    assert {name: share for name, share in far.items() if abs(share) > 0.05} == {}


def test_half_of_the_kernels_are_within_two_percent(rows):
    assert statistics.median(abs(row.deviation) for row in rows) <= 0.02


def test_every_packet_is_legal_and_every_value_has_a_register(rows):
    for row in rows:
        kernel = row.kernel
        for segment in (*kernel.tile, *kernel.row, *kernel.call):
            legal = [packet.legal(kernel.machine) for packet in segment.code.packets]
            assert all(legal), (kernel.name, row.shape)
            assert len(asm(segment)) >= segment.packets, (kernel.name, row.shape)
            assert segment.stalls >= 0, (kernel.name, row.shape)


def asm(segment):
    return loop_asm(segment.code) if isinstance(segment.code, Loop) else straight_asm(segment.code)


@pytest.mark.toolchain
@pytest.mark.parametrize("version", [60, 65, 66])
def test_llvm_mc_accepts_every_packet(version, rows):
    machine = HvxMachine(version)
    kernels = {r.kernel.name: r.kernel for r in rows if r.kernel.machine == machine}
    texts = [t for k in kernels.values() for s in (*k.tile, *k.row, *k.call) for t in asm(s)]
    assert texts
    assert refused(texts, version) == {}
