"""Every packet that real networks make the kernels emit is accepted by llvm-mc for its version."""

import pytest

from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.graph.ir import Network
from hexsim.hvx.kernels import kernel_streams
from hexsim.hvx.listing import loop_asm, straight_asm
from hexsim.hvx.modulo import Loop
from hexsim.hvx.streams import Kernel
from hexsim.layers import Resize
from hexsim.layers.images import CONVERTED
from hexsim.passes.network_inputs import set_input_formats
from hexsim.quantization.model import require_float
from hexsim.simulation.phone import Phone
from tests.deployed import planned
from tests.oracle.toolchain import refused
from tests.small_networks import Sketch

NETWORKS = ("alexnet", "googlenet", "mobilenet_v2", "squeezenet1_1", "resnet50", "inception_v3")
CHIPS = {"sd820": 60, "sd835": 62, "sd845": 65, "sd855": 66}


def grown() -> Network:
    """A picture made larger in every way that has a loop."""
    net, last = Sketch((1, 2, 2, 128)), "in"
    for stride in (2, 3, 4):
        last = net.deconv(last, 32, stride, stride)
    for coordinates in ("half_pixel", "asymmetric"):
        net.add(Resize, "in", kind="bilinear", scales=(2.0, 2.0), coordinates=coordinates)
    nearest = net.add(Resize, "in", kind="nearest", scales=(2.0, 2.0))
    return net.network(last, nearest)


def emitted(chip: str) -> dict[tuple[str, int], Kernel]:
    """The different kernels of all networks on a chip, by name and size of a tile."""
    platform = Platform.load(chip)
    target = Phone(platform.chip, platform.stack, [platform.stack.profile()]).dsp.target
    kernels = {}
    networks = [require_float(load(name)) for name in NETWORKS]
    (picture,) = networks[2].inputs
    networks += [set_input_formats(networks[2], {}, {picture: e}) for e in CONVERTED]
    networks.append(grown())
    for network in networks:
        for call in planned(network).calls():
            for kernel in kernel_streams(call, target):
                kernels[kernel.name, kernel.cost.tile] = kernel
    return kernels


@pytest.mark.toolchain
@pytest.mark.parametrize("chip", CHIPS)
def test_llvm_mc_accepts_what_networks_run(chip: str) -> None:
    kernels = emitted(chip)
    texts = [
        text
        for kernel in kernels.values()
        for stretch in (*kernel.tile, *kernel.row, *kernel.call)
        for text in (
            loop_asm(stretch.code) if isinstance(stretch.code, Loop) else straight_asm(stretch.code)
        )
    ]
    assert len(kernels) > 15
    names = {name for name, _ in kernels}
    assert {"nv21 colours", "weave colours", "weave 2", "weave 3", "weave 4"} <= names
    assert {"resize x2", "resize x2 centred", "nearest x2"} <= names
    assert refused(texts, CHIPS[chip]) == {}
