"""Machines and latencies."""

import pytest

from hexsim.hvx.isa import (
    ADDRESS_READ,
    EARLY_READ,
    LATE_READ,
    SCALAR_READ,
    SCALAR_RESULT,
    VECTOR_RESULT,
    VERSIONS,
    HvxMachine,
    Pipes,
    latency,
)

SCALAR_LOAD = HvxMachine(66).classes["scalar load"].writes


@pytest.mark.parametrize(
    ("written", "read", "packets"),
    [
        (VECTOR_RESULT, LATE_READ, 1),
        (VECTOR_RESULT, EARLY_READ, 2),
        (SCALAR_LOAD, SCALAR_READ, 1),
        (SCALAR_LOAD, ADDRESS_READ, 2),
        (SCALAR_RESULT, ADDRESS_READ, 1),
    ],
)
def test_latency_in_packets(written, read, packets):
    assert latency(written, read) == packets


def test_what_each_architecture_added():
    news = {v: set(HvxMachine(v).classes) - set(HvxMachine(60).classes) for v in VERSIONS}
    assert news[60] == news[62] == set()
    assert news[65] == {"two-stream dot", "gather", "gather pair", "scatter"}
    assert news[66] == news[65] | {"Z load", "Z dot"}


def test_saturation_left_the_shift_pipe_after_v60():
    assert HvxMachine(60).classes["saturate"].pipes == (Pipes(shift=1),)
    assert len(HvxMachine(62).classes["saturate"].pipes) == 3


def test_one_multiply_pipe_makes_a_wide_multiply_take_two_packets():
    wide = HvxMachine(60).classes["multiply pair"]
    assert HvxMachine(60).further_packets(wide) == 0
    assert HvxMachine(60, multiply_pipes=1).further_packets(wide) == 1
    either = HvxMachine(60).classes["alu pair"]  # still fits permute + shift
    assert HvxMachine(60, multiply_pipes=1).further_packets(either) == 0
    assert HvxMachine(60, multiply_pipes=1).alternatives(either) == (Pipes(permute=1, shift=1),)
