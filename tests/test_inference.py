from __future__ import annotations

from hexsim import chips, stacks
from hexsim.graph.ir import Network
from hexsim.layers import Opaque
from hexsim.results import Result
from hexsim.simulator import Job, Workload, simulate
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
    for runtime in ("cpu", "gpu"):
        result = run(image_network(), runtime)
        assert names(result) == ["input_copy", "output_copy"]
        assert {layer.cost_model for layer in result.layers} == {"analytic"}
