import itertools

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.errors import HexsimError


def calibrated() -> set[tuple[str, str, float]]:
    """Every fitted constant once, however many files show it."""
    sheets = [*map(chips.load, chips.names()), *map(stacks.load, stacks.names())]
    return {
        (path, quantity.source, quantity.value)
        for sheet in sheets
        for path, quantity in sheet.quantities()
        if quantity.confidence == "calibrated"
    }


@pytest.mark.parametrize("name", stacks.names())
def test_every_shipped_stack_is_valid(name: str) -> None:
    stack = stacks.load(name)
    assert stack.name == name
    assert stack.buffer() == stack.buffer_types[0]
    assert stack.profile() == stack.profile(stack.default_profile)


@pytest.mark.parametrize("name", stacks.names())
def test_every_bound_of_the_sweep_is_a_valid_stack(name: str) -> None:
    stack = stacks.load(name)
    bounds = [
        (path, bound)
        for path, quantity in stack.quantities()
        for bound in (quantity.low, quantity.high)
        if bound is not None
    ]
    assert bounds
    for path, value in bounds:
        stack.with_value(path, value)


def test_at_most_nine_constants_of_a_family_are_calibrated() -> None:
    software = {key for key in calibrated() if key[0].startswith("cpu_software.")}
    assert 0 < len(software) <= 9
    tensor_processors = {
        key for key in calibrated() if "htp_latency.csv" in key[1] or "llm_latency.csv" in key[1]
    }
    of_memory = {key for key in tensor_processors if "bytes" in key[0] and "htp." in key[0]}
    assert {key[0] for key in of_memory} == {"htp.memory_bytes_per_layer", "htp.process_bytes"}
    assert {key[0] for key in tensor_processors - of_memory} == {
        *("htp.clock_hz", "htp.hmx_share", "htp.vector_clk", "htp.broadcast_vector_clk"),
        *(
            "memory.efficiency",
            "htp.regrouped_vector_clk",
            "htp.operator_clk",
            "htp.row_vector_clk",
        ),
        *("htp.ordered_vectors", "htp.unpacked_vectors", "htp.pace"),
    }
    assert 0 < len(calibrated() - software - tensor_processors) <= 9


def test_the_releases() -> None:
    assert stacks.names() == (
        "aihub-tflite",
        "qnn-2.43",
        "qnn-2.45",
        "snpe-1.23",
        "snpe-1.30",
        "snpe-1.63",
        "tflite-hexagon",
    )
    old, new = stacks.load("snpe-1.23"), stacks.load("snpe-1.30")
    assert (old.partitioning.rules, new.partitioning.rules) == ("1.23", "1.25+")
    assert old.quantization.min_range == 0.01
    assert stacks.load("qnn-2.45").quantization.min_range == 0.0001
    assert old.entry.input_conversion.engine == "dsp_scalar"
    assert new.entry.input_conversion.engine == "hvx"


def test_a_stronger_profile_never_asks_for_less() -> None:
    clock_hz = chips.load("sd855").dsp.clock_hz
    stack = stacks.load("snpe-1.30")
    order = ["burst", "high_performance", "balanced", "low_balanced", "power_saver"]
    asked = [stack.profile(name) for name in [*order, "low_power_saver"]]
    for stronger, weaker in itertools.pairwise(asked):
        assert clock_hz(stronger.dsp_corner) >= clock_hz(weaker.dsp_corner)
        assert stronger.bus_vote >= weaker.bus_vote


def test_the_qnn_stack_overrules_only_its_own_part_of_a_shared_profile() -> None:
    qnn, snpe = stacks.load("qnn-2.45"), stacks.load("snpe-1.30")
    assert (qnn.profile("burst").qos, snpe.profile("burst").qos) == ("polling", "pm_qos")
    assert qnn.profile("burst").dsp_corner == snpe.profile("burst").dsp_corner
    assert qnn.profile("balanced") == snpe.profile("balanced")


def test_tflite_offers_no_aip() -> None:
    stack = stacks.load("tflite-hexagon")
    stack.require("dsp")
    with pytest.raises(HexsimError, match="tflite-hexagon has no aip runtime; it has cpu, gpu"):
        stack.require("aip")


def test_unknown_names_are_answered_with_their_neighbours() -> None:
    with pytest.raises(HexsimError, match=r"unknown stack 'snpe-1\.24'; did you mean snpe-1\.2"):
        stacks.load("snpe-1.24")
    with pytest.raises(HexsimError, match="unknown performance profile 'bursts'; did you mean bu"):
        stacks.load("snpe-1.23").profile("bursts")


def test_a_buffer_type_the_release_lacks_is_refused() -> None:
    assert stacks.load("snpe-1.23").buffer("tf8") == "tf8"
    with pytest.raises(HexsimError, match="unknown buffer type of tflite-hexagon 'float'"):
        stacks.load("tflite-hexagon").buffer("float")


def test_a_release_without_a_tensor_processor_refuses_its_runtimes() -> None:
    assert stacks.load("qnn-2.43").htp.operator_clk > 0
    with pytest.raises(HexsimError, match=r"stack qnn-2.45 has no htp runtime"):
        stacks.load("qnn-2.45").require("htp")
    with pytest.raises(HexsimError, match=r"stack qnn-2.45 states no \[htp\] data"):
        _ = stacks.load("qnn-2.45").htp
