"""Slots and pipes as people see them."""

from __future__ import annotations

import pytest

from benchmarks.hand_written import comparison
from hexsim.hvx import listing
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import Insn, Packet

V60, V66 = HvxMachine(60), HvxMachine(66)


def slots(machine: HvxMachine, packet: Packet) -> str:
    return listing.slots([insn.instruction_class(machine) for insn in packet.insns])


def pipes(machine: HvxMachine, packet: Packet) -> str:
    return listing.pipes(machine, [insn.instruction_class(machine) for insn in packet.insns])


def test_a_dot_with_a_scalar_takes_one_multiply_and_a_load_any_pipe() -> None:
    dot = Insn("dot.ub.Rub.acc", "acc", ("w", "x"))
    load = Insn("load", "w2", ("weights",))
    assert (slots(V60, Packet((dot,))), pipes(V60, Packet((dot,)))) == ("..2.", "..M.")
    packet = Packet((dot, load, dot))
    assert slots(V60, packet) == "0.23"
    assert pipes(V60, packet) == "P.MM"


def test_a_z_dot_fills_every_pipe_and_scalar_code_none() -> None:
    assert pipes(V66, Packet((Insn("dotz.b.acc", "acc", ("w", "x")),))) == "PSMM"
    assert pipes(V66, Packet((Insn("r.addi", "a", ("b",), 4),))) == "...."


def test_more_pipes_are_more_letters() -> None:
    wide = HvxMachine(66, permute_pipes=2)
    shuffle = Insn("shuff.b", "y", ("x",))
    assert pipes(wide, Packet((shuffle, shuffle))) == "PPS.."[:2] + "..."


@pytest.mark.parametrize("version", [60, 65, 66])
def test_every_packet_of_every_kernel_has_a_place(version: int) -> None:
    for row in comparison():
        kernel = row.kernel
        if kernel.machine != HvxMachine(version):
            continue
        for segment in (*kernel.tile, *kernel.call):
            for packet in segment.code.packets:
                used = slots(kernel.machine, packet)
                assert len(used.replace(".", "")) == len(packet.insns)
                wants = any(i.instruction_class(kernel.machine).pipes for i in packet.insns)
                assert (pipes(kernel.machine, packet) != "....") == wants
