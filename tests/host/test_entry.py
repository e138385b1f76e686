from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from hexsim.datasheets import chips, stacks
from hexsim.host.entry import Call, parts_after_dsp, parts_before_graph, parts_on_dsp_after_graph
from hexsim.planning.plan import joined_subnets
from tests.small_networks import Sketch, plan

ELEMENTS = 20 * 20 * 3


def call(
    chip: str = "sd835", stack: str = "snpe-1.23", profile: str = "balanced", **changes: object
) -> Call:
    net = Sketch((1, 20, 20, 3))
    (together,) = joined_subnets(plan(net.network(net.dense("in", 10))))
    software = stacks.load(stack)
    base = Call(together, chips.load(chip), software, software.profile(profile), "float", 0.0)
    return replace(base, **changes)  # type: ignore[arg-type]


def seconds(parts: list, name: str) -> float:
    return sum(part.seconds for part in parts if part.name == name)


def sent(call: Call) -> int:
    return sum(call.buffer_bytes[0].values())


def returned(call: Call) -> int:
    return sum(call.buffer_bytes[1].values())


def test_old_stacks_convert_floats_on_the_scalar_units() -> None:
    (part,) = [p for p in parts_before_graph(call()) if p.name == "input_conversion"]
    per_element = call().stack.entry.input_conversion.clk_per_element
    assert part.place == "dsp_scalar"
    assert part.clocks == pytest.approx(ELEMENTS * per_element)


def test_conversions_on_the_cpu_come_before_the_call_and_take_its_clock() -> None:
    stack = stacks.load("snpe-1.23")
    conversion = structs.replace(stack.entry.input_conversion, engine="cpu")
    entry = structs.replace(stack.entry, input_conversion=conversion)
    changed = call(stack=stack.name)
    changed = replace(changed, stack=structs.replace(stack, entry=entry))
    parts = parts_before_graph(changed)
    order = [part.name for part in parts]
    assert order.index("input_conversion") < order.index("rpc_invoke")
    expected = ELEMENTS * conversion.clk_per_element / changed.chip.cpu.clock_hz
    assert seconds(parts, "input_conversion") == pytest.approx(expected)


def test_code_buffers_are_not_converted() -> None:
    codes = call(buffer="tf8")
    assert not any(
        "conversion" in part.name
        for part in [*parts_before_graph(codes), *parts_on_dsp_after_graph(codes)]
    )


def test_what_crosses_as_codes_is_neither_converted_nor_four_times_the_bytes() -> None:
    floats = call()
    subnets = tuple(replace(subnet, as_codes=frozenset({"in"})) for subnet in floats.joined.subnets)
    codes = replace(floats, joined=replace(floats.joined, subnets=subnets))
    assert codes.input_elements == 0
    assert codes.output_elements == floats.output_elements > 0
    assert "input_conversion" not in {part.name for part in parts_before_graph(codes)}
    assert sent(floats) == 4 * sent(codes) == 4 * ELEMENTS


def test_floats_are_four_times_the_bytes_to_hand_over() -> None:
    buffers = call().stack.entry
    floats, codes = (
        seconds(parts_before_graph(call()), "buffers"),
        seconds(parts_before_graph(call(buffer="tf8")), "buffers"),
    )
    assert floats - codes == pytest.approx(3 * ELEMENTS * buffers.buffer_s_per_byte)


def test_only_a_chip_without_coherence_flushes_its_inputs() -> None:
    assert seconds(parts_before_graph(call("sd820")), "cache_flush") > 0
    assert seconds(parts_before_graph(call("sd835")), "cache_flush") == 0
    assert seconds(parts_after_dsp(call("sd835"), 1e-3), "cache_invalidate") > 0


@pytest.mark.parametrize(("job_s", "field"), [(1e-4, "100us"), (1.2e-3, "1200us"), (11e-3, "11ms")])
def test_the_round_trip_at_the_measured_lengths(job_s: float, field: str) -> None:
    rpc = call().stack.entry.rpc.adaptive
    trip = seconds(parts_before_graph(call()), "rpc_invoke") + seconds(
        parts_after_dsp(call(), job_s), "rpc_return"
    )
    assert trip == pytest.approx(getattr(rpc, f"job_{field}_s"))


def test_the_round_trip_between_and_beyond_the_measured_lengths() -> None:
    def back(job_s: float) -> float:
        slow = call(profile="power_saver")  # no quality of service: longer with the job
        return seconds(parts_after_dsp(slow, job_s), "rpc_return")

    assert back(1.2e-3) < back(5e-3) < back(11e-3)
    assert back(1.0) == back(11e-3)
    assert back(0.0) == back(1e-4)


def test_parts_wake_only_after_their_idle_time_and_the_hold_of_the_profile() -> None:
    off = call().stack.entry.dsp_wake.off
    asleep = off.after_idle_s + 1e-3
    assert seconds(parts_before_graph(call(idle_s=asleep)), "dsp_wake") == off.wake_s
    assert seconds(parts_before_graph(call(profile="burst", idle_s=asleep)), "dsp_wake") == 0
    assert seconds(parts_before_graph(call(idle_s=0.0)), "dsp_wake") == 0


@pytest.mark.parametrize(
    ("idle_ms", "measured_ms"), [(0.25, 0.661), (1.0, 0.674), (3.0, 0.769), (10.0, 1.085)]
)
def test_the_dsp_falls_asleep_step_by_step(idle_ms: float, measured_ms: float) -> None:
    """DroNet on sd865 under QNN 2.45, by the idle time before each call; 0.652 ms without."""
    idle = call("sd865", "qnn-2.45", "default", idle_s=idle_ms * 1e-3)
    slower_ms = sum(seconds(parts_before_graph(idle), p) for p in ("cpu_wake", "dsp_wake")) * 1e3
    assert slower_ms == pytest.approx(measured_ms - 0.652, abs=0.01)


def on_hta(base: Call) -> Call:
    subnets = tuple(replace(subnet, engine="hta") for subnet in base.joined.subnets)
    return replace(base, joined=replace(base.joined, subnets=subnets))


def test_the_tensor_engine_wakes_only_for_calls_that_use_it() -> None:
    wake = call().stack.entry.hta_wake.off
    asleep = call(idle_s=wake.after_idle_s + 1e-3)
    assert seconds(parts_before_graph(asleep), "hta_wake") == 0
    assert seconds(parts_before_graph(on_hta(asleep)), "hta_wake") == wake.wake_s
    assert seconds(parts_before_graph(on_hta(call())), "hta_wake") == 0


def test_without_power_collapse_only_the_cpu_sleeps() -> None:
    asleep = on_hta(call(idle_s=1.0))
    awake = replace(asleep, stack=asleep.stack.without_power_collapse())
    assert {part.name for part in parts_before_graph(asleep)} - {
        part.name for part in parts_before_graph(awake)
    } == {
        "dsp_wake",
        "hta_wake",
    }
    assert seconds(parts_before_graph(awake), "cpu_wake") > 0


def test_no_part_is_negative_under_any_quality_of_service() -> None:
    for profile in ("burst", "balanced", "power_saver"):
        for job_s in (1e-6, 1e-3, 1.0):
            for part in [
                *parts_before_graph(call(profile=profile)),
                *parts_after_dsp(call(profile=profile), job_s),
            ]:
                assert part.seconds >= 0
                assert part.clocks >= 0


def test_codes_of_16_bits_are_two_bytes_and_floats_stay_four() -> None:
    def wide(base: Call) -> Call:
        (subnet,) = base.joined.subnets
        calls = tuple(replace(call, activation_bits=16) for call in subnet.calls)
        return replace(base, joined=replace(base.joined, subnets=(replace(subnet, calls=calls),)))

    codes, floats = call(buffer="tf8"), call()
    assert (sent(codes), sent(wide(codes))) == (ELEMENTS, 2 * ELEMENTS)
    assert returned(wide(codes)) == 2 * returned(codes)
    assert sent(wide(floats)) == sent(floats) == 4 * ELEMENTS
