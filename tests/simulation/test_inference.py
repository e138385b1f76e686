from __future__ import annotations

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.graph.ir import Network
from hexsim.layers import Elementwise, Opaque
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Job, Workload, simulate
from hexsim.timing.results import Result
from tests.deployed import planned
from tests.mixed import mixed
from tests.small_networks import Sketch, plan


def run(network: Network, runtime: str = "dsp", **job: object) -> Result:
    request = Job(plan(network, runtime), **job)  # type: ignore[arg-type]
    return simulate(Workload((request,)), chips.load("sd835"), stacks.load("snpe-1.23"))


def names(result: Result) -> list[str]:
    return [overhead.name for overhead in result.overheads]


def image_network() -> Network:
    net = Sketch((1, 32, 32, 3))
    return net.network(net.dense(net.conv("in", 32, 3), 10))


def test_the_parts_of_a_call_come_in_order() -> None:
    assert names(run(image_network())) == [
        "input_copy",
        "buffers",
        "rpc_invoke",
        "graph_start",
        "input_conversion",
        "output_conversion",
        "rpc_return",
        "cache_invalidate",
        "output_copy",
    ]


def test_code_buffers_need_neither_copies_nor_conversions() -> None:
    parts = names(run(image_network(), buffer="tf8"))
    assert not {"input_copy", "input_conversion", "output_conversion", "output_copy"} & set(parts)


def test_forward_propagate_leaves_out_the_copies() -> None:
    result = run(image_network())
    copies = sum(o.duration_ps for o in result.overheads if o.name.endswith("copy"))
    assert result.total_ps - result.forward_ps == copies > 0


@pytest.mark.parametrize(("runtime", "table"), [("cpu", "floats"), ("fxp_cpu", "codes")])
def test_the_cpu_runtime_takes_time_outside_forward_propagate(runtime: Runtime, table: str) -> None:
    result = run(image_network(), runtime)
    (part,) = (o for o in result.overheads if o.name == "cpu_runtime")
    software = stacks.load("snpe-1.23").cpu_software
    assert software is not None
    assert part.us == pytest.approx(1e6 * getattr(software, table).outside_s)
    copies_us = sum(o.us for o in result.overheads if o.name.endswith("copy"))
    assert result.total_us - result.forward_us == pytest.approx(part.us + copies_us)
    assert "cpu_runtime" not in names(run(image_network(), "gpu"))


def test_a_tensor_crosses_between_gpu_and_cpu_once_by_a_kernel_and_a_copy() -> None:
    """Two layers on the CPU read what the GPU wrote; both results and the sum go on."""
    net = Sketch((1, 8, 8, 3))
    first = net.conv("in", 4)
    shapes = (net.shape(first),)
    left = [net.add(Opaque, first, op_type="Hardmax", node=b"", shapes=shapes) for _ in range(2)]
    total = net.add(Elementwise, *left, kind="sum")
    again = net.add(Opaque, first, op_type="Hardmax", node=b"", shapes=shapes)
    result = run(net.network(net.add(Elementwise, total, again, kind="sum")), "gpu")
    phone, stack = chips.load("sd835"), stacks.load("snpe-1.23")
    ways = [part for part in result.overheads if part.name in ("to_cpu", "from_cpu")]
    kernel_s = stack.gpu.layer_s + 256 * (2 + 4) / phone.gpu.bandwidth_bytes_per_s
    copy_s = 256 * (4 + 4) / (phone.cpu.copy_bytes_per_clk * phone.cpu.clock_hz)
    of_one = kernel_s + copy_s
    to_cpu, from_cpu = (
        sum(part.us for part in ways if part.name == name) for name in ("to_cpu", "from_cpu")
    )
    assert to_cpu == pytest.approx(1e6 * of_one, rel=1e-6)
    assert from_cpu == pytest.approx(3e6 * of_one, rel=1e-6)
    charges = (*result.layers, *result.overheads)
    assert sum(charge.duration_ps for charge in charges) == result.total_ps
    alone = run(image_network(), "gpu")
    assert not {"to_cpu", "from_cpu"} & set(names(alone))


def test_prefetches_come_in_order_and_the_first_slice_of_every_layer_is_exposed() -> None:
    """The trace of a real network: no job of a layer runs before its first slice is there."""
    deployment = deploy(load("squeezenet1_1"), Platform.load("sd835"), "dsp")
    result = deployment.simulate()
    latency_ps = round(deployment.platform.chip.memory.dsp_latency_s * 1e12)
    spans = result.timeline.spans
    fetched = [span for span in spans if span.track == "q6 prefetch"]
    order = [layer.name for layer in result.layers]
    assert [order.index(span.name) for span in fetched] == sorted(
        order.index(span.name) for span in fetched
    )
    exposed = 0
    for layer in result.layers:
        first = next((span for span in fetched if span.name == layer.name), None)
        if layer.type == "convolutional" and first is not None:
            jobs = [s.t0_ps for s in spans if s.track == "q6 worker 0" and s.name == layer.name]
            assert min(jobs) == first.t1_ps + latency_ps
            exposed += 1
    assert exposed == 26


def test_write_back_follows_the_jobs_and_ends_the_layer() -> None:
    net = Sketch((1, 112, 112, 32))
    result = run(net.network(net.conv(net.conv("in", 64), 64)))
    written = [s for s in result.timeline.spans if s.track == "q6 write-back"]
    for layer in result.layers:
        own = [span for span in written if span.name == layer.name]
        jobs = [s for s in result.timeline.spans if s.name == layer.name and "worker" in s.track]
        assert min(span.t0_ps for span in own) >= min(job.t1_ps for job in jobs)
        assert max(span.t1_ps for span in own) == layer.start_ps + layer.duration_ps


def test_tensors_of_many_channels_change_layout_at_the_edges() -> None:
    net = Sketch((1, 16, 16, 64))
    out = net.conv("in", 64, 3)
    assert {"to_d32 in", f"from_d32 {out}"} <= set(names(run(net.network(out))))


def test_a_fallback_to_the_cpu_enters_the_dsp_twice() -> None:
    net = Sketch((1, 16, 16, 32))
    first = net.conv("in", 32)
    middle = net.add(Opaque, first, op_type="Erf", node=b"", shapes=(net.shape(first),))
    result = run(net.network(net.conv(middle, 32)), idle_ms=1000)
    assert [layer.engine for layer in result.layers] == ["hvx", "cpu", "hvx"]
    assert names(result).count("rpc_invoke") == 2
    assert names(result).count("dsp_wake") == 1


def test_cpu_and_gpu_have_layers_and_copies_only() -> None:
    for runtime, own in (("cpu", ["cpu_runtime"]), ("gpu", [])):
        result = run(image_network(), runtime)
        assert names(result) == ["input_copy", *own, "output_copy"]
        assert {layer.cost_model for layer in result.layers} == {"analytic"}


def test_what_the_cpu_does_and_what_is_waited_for_are_tracks_apart() -> None:
    spans = run(image_network(), idle_ms=1000).timeline.spans

    def on(track: str) -> list[str]:
        return [span.name for span in spans if span.track == track]

    assert on("cpu") == ["input_copy", "buffers", "cache_invalidate", "output_copy"]
    assert on("fastrpc") == ["cpu_wake", "rpc_invoke", "dsp_wake", "rpc_return"]
    assert on("subnets") == ["subnet 0 (hvx)"]


def test_a_convert_layer_is_paid_on_the_cpu_and_not_again_at_the_edge() -> None:
    model = mixed(32)
    request = Job(planned(model, "dsp"))
    result = simulate(Workload((request,)), chips.load("sd835"), stacks.load("snpe-1.23"))
    engines = {layer.type: layer.engine for layer in result.layers if layer.type == "convert"}
    assert engines == {"convert": "cpu"}
    assert [layer.engine for layer in result.layers] == ["hvx", "cpu", "cpu", "cpu", "hvx", "hvx"]
    parts = names(result)
    assert parts.count("rpc_invoke") == 2
    assert (parts.count("input_conversion"), parts.count("output_conversion")) == (1, 1)
    assert all(layer.duration_ps > 0 for layer in result.layers)
