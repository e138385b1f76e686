"""Every layer that some runtime refuses is named with the reason."""

from hexsim.layers import Neuron, Opaque
from hexsim.reports.network.imports import fallback_table, opaque_lines
from tests.small_networks import Sketch


def test_layers_reasons_and_runtimes() -> None:
    net = Sketch((1, 4, 4, 2))
    elu = net.add(Neuron, "in", function="elu")
    erf = net.add(Opaque, elu, op_type="Erf", node=b"", shapes=((1, 4, 4, 2),))
    network = net.network(net.pool(erf))
    rows = [" ".join(line.split()) for line in fallback_table(network).splitlines()[2:]]
    assert rows[0].startswith("neuron0 neuron fxp_cpu dsp aip SNPE 1.x has no neuron (elu)")
    assert rows[1].startswith(
        "opaque1 Erf fxp_cpu gpu gpu_fp16 dsp aip htp htp_fp16 the operator has no"
    )
    assert rows[-1].startswith("2 of 3 layers")
    assert [line.split(":")[0] for line in opaque_lines(network)] == ["node 'opaque1' (Erf)"]
