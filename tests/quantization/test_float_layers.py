"""Fixed-point runtimes refuse float layers, and the Convert layers around them, in a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.planning.partition import partition
from hexsim.quantization.float_layers import converts_floats, refusal_in
from hexsim.quantization.model import Model
from hexsim.runtimes import FIXED_POINT, RUNTIMES
from tests.deployed import deployed, planned
from tests.mixed import chain, feeds, mixed


@pytest.mark.parametrize("bits", [16, 32])
def test_who_refuses_what(bits: int) -> None:
    model = mixed(bits)
    for runtime in RUNTIMES:
        reasons = {layer.name: refusal_in(model, layer, runtime) for layer in model.network.layers}
        refused = {name for name, reason in reasons.items() if reason}
        if runtime not in FIXED_POINT or (runtime, bits) == ("htp", 16):
            assert not refused
            continue
        converts = {f"conv1.y_convert_Float_{bits}", "conv2.y_convert_uFxp_8"}
        assert refused == {"conv2", *converts}
        sentence = f"it is float{bits} in this network, and {runtime} computes in integers"
        assert reasons["conv2"] == sentence + (" and float16" if runtime == "htp" else "")


def test_a_network_without_float_layers_has_no_such_rule() -> None:
    network = chain()
    assert not any(converts_floats(layer, Model(network)) for layer in network.layers)
    assert not any(refusal_in(Model(network), layer, "dsp") for layer in network.layers)


def test_the_cut_is_one_subnet_on_the_cpu() -> None:
    cuts = partition(mixed(), "dsp")
    assert [(cut.runtime, len(cut.layers)) for cut in cuts] == [("dsp", 1), ("cpu", 3), ("dsp", 2)]
    assert "float32" in cuts[1].reason


def test_without_fallback_the_network_is_refused() -> None:
    with pytest.raises(HexsimError, match=r"'conv1.y_convert_Float_32' \(convert\) cannot run on"):
        partition(mixed(), "dsp", cpu_fallback=False)


def test_the_plan_knows_widths_and_what_crosses_as_codes() -> None:
    model = mixed(16)
    plan = planned(model, "dsp")
    first, middle, last = plan.subnets
    assert first.as_codes == {"conv1.y"}
    assert last.as_codes == {"conv2.y_convert_uFxp_8"}
    assert middle.as_codes == frozenset()
    widths = [(c.input_bits, c.activation_bits, c.computes_float) for c in middle.calls]
    assert widths == [(8, 16, True), (16, 16, True), (16, 8, True)]
    assert middle.calls[1].weight_bits == 16
    assert plan.floats == {"conv2.w", "conv2.b"}


def test_on_the_cpu_everything_is_single_whatever_the_file_says() -> None:
    model = mixed(16)
    (only,) = planned(model, "cpu").subnets
    assert {(c.input_bits, c.activation_bits, c.computes_float) for c in only.calls} == {
        (32, 32, True)
    }


def test_what_the_application_reads_crosses_as_floats() -> None:
    """An output of the network is converted at the edge, even if a Convert layer reads it too."""
    model = mixed()
    seen = replace(model, network=replace(model.network, outputs=("conv3.y", "conv1.y")))
    plan = planned(seen, "dsp")
    assert plan.subnets[0].as_codes == frozenset()


def test_half_floats_run_in_the_graph_of_a_tensor_processor() -> None:
    """Values are those of the same layers on the CPU, and no time goes on ways there and back."""
    phone = Platform.load("sd8gen3")
    deployment = Deployment(mixed(16), phone, "htp")
    assert [(cut.engine, len(cut.layers)) for cut in deployment.subnets] == [
        ("htp", n) for n in (1, 3, 2)
    ]
    widths = [
        (c.input_bits, c.activation_bits, c.weight_bits) for c in deployment.plan.subnets[1].calls
    ]
    assert [pair[:2] for pair in widths] == [(8, 16), (16, 16), (16, 8)]
    assert widths[1][2] == 16
    on_cpu = deployed(mixed(16)).executor()
    for feed in feeds():
        for name, values in deployment.executor().run(feed).items():
            np.testing.assert_array_equal(values, on_cpu.run(feed)[name])
    ways = {"to_cpu", "from_cpu"}
    assert not ways & {part.name for part in deployment.simulate().overheads}
    of_singles = Deployment(mixed(32), phone, "htp").simulate()
    assert ways <= {part.name for part in of_singles.overheads}
