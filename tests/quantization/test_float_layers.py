"""Fixed-point runtimes refuse float layers, and the Convert layers around them, in a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hexsim.errors import HexsimError
from hexsim.planning.partition import partition
from hexsim.quantization.float_layers import converts_floats, refusal_in
from hexsim.quantization.model import Model
from hexsim.runtimes import FIXED_POINT, RUNTIMES
from tests.deployed import planned
from tests.mixed import chain, mixed


@pytest.mark.parametrize("bits", [16, 32])
def test_who_refuses_what(bits: int) -> None:
    model = mixed(bits)
    for runtime in RUNTIMES:
        told = {layer.name: refusal_in(model, layer, runtime) for layer in model.network.layers}
        refused = {name for name, reason in told.items() if reason}
        if runtime not in FIXED_POINT:
            assert not refused
            continue
        converts = {f"conv1.y_convert_Float_{bits}", "conv2.y_convert_uFxp_8"}
        assert refused == {"conv2", *converts}
        sentence = f"it is float{bits} in this network, and {runtime} computes in integers"
        assert told["conv2"] == sentence


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
